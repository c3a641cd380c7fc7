// Server-sent events of a stream of text: feed(chunk) returns the events that the
// chunk completes, each {event, data}.
export class Events {
  #rest = '';

  feed(chunk) {
    const frames = (this.#rest + chunk).split(/\r?\n\r?\n/);
    this.#rest = frames.pop();
    return frames.map(parse).filter((frame) => frame.data !== '');
  }
}

function parse(frame) {
  const event = { event: '', data: [] };
  for (const line of frame.split(/\r?\n/)) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line);
    if (name === 'event') event.event = value;
    if (name === 'data') event.data.push(value);
  }
  return { event: event.event, data: event.data.join('\n') };
}
