// Both packages against a real model that sees colours; see tools/projector.

import assert from 'node:assert/strict';
import { crc32, deflateSync } from 'node:zlib';

const colours = { red: [220, 20, 20], blue: [10, 30, 230], green: [20, 200, 30], yellow: [240, 230, 10] };
const question = 'What colour is the picture? One word.';

// A PNG of one colour, in base64.
function picture(colour) {
  const side = 96;
  const number = (n) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(n);
    return bytes;
  };
  const chunk = (name, data) => {
    const named = Buffer.concat([Buffer.from(name), data]);
    return Buffer.concat([number(data.length), named, number(crc32(named))]);
  };
  const row = Buffer.concat([Buffer.of(0), Buffer.from(Array(side).fill(colours[colour]).flat())]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.concat([number(side), number(side), Buffer.of(8, 2, 0, 0, 0)])),
    chunk('IDAT', deflateSync(Buffer.concat(Array(side).fill(row)))),
    chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
}

async function eachColour(ask) {
  for (const colour of Object.keys(colours)) {
    const text = await ask(colour);
    assert.ok(text.toLowerCase().includes(colour), `the ${colour} picture is called ${JSON.stringify(text)}`);
  }
}

export const chatBody = (model, colour) => ({ model, max_tokens: 8, temperature: 0, messages: [{ role: 'user', content: [
  { type: 'image_url', image_url: { url: `data:image/png;base64,${picture(colour)}` } },
  { type: 'text', text: question },
] }] });

export const responsesBody = (model, colour) => ({ model, max_output_tokens: 16, temperature: 0, input: [{ role: 'user', content: [
  { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${picture(colour)}` },
  { type: 'input_text', text: question },
] }] });

export const messagesBody = (model, colour) => ({ model, max_tokens: 8, temperature: 0, messages: [{ role: 'user', content: [
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture(colour) } },
  { type: 'text', text: question },
] }] });

export const openai = {
  'vision/plain': (client, model) => eachColour(async (colour) =>
    (await client.chat.completions.create(chatBody(model, colour))).choices[0].message.content),

  'vision/stream': (client, model) => eachColour((colour) =>
    client.chat.completions.stream(chatBody(model, colour)).finalContent()),

  'vision/responses': (client, model) => eachColour(async (colour) =>
    (await client.responses.create(responsesBody(model, colour))).output_text),

  'vision/responses-stream': (client, model) => eachColour(async (colour) =>
    (await client.responses.stream(responsesBody(model, colour)).finalResponse()).output_text),
};

export const anthropic = {
  'vision/plain': (client, model) => eachColour(async (colour) =>
    (await client.messages.create(messagesBody(model, colour))).content[0].text),

  'vision/stream': (client, model) => eachColour((colour) =>
    client.messages.stream(messagesBody(model, colour)).finalText()),
};
