// Images through the openai package, of the model `painter` in
// cassettes/script.yaml, which draws a card with the prompt on it.

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { rejected } from './harness.js';

// Width and height, as a PNG's first chunk has them.
function sizeOf(base64) {
  const png = Buffer.from(base64, 'base64');
  assert.equal(png.toString('latin1', 1, 4), 'PNG');
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

export const images = {
  async 'images/plain'(client) {
    const reply = await client.images.generate({ model: 'painter', prompt: 'a green hill', size: '256x128' });
    assert.deepEqual(reply.data.map((d) => sizeOf(d.b64_json)), [[256, 128]]);
  },

  async 'images/many'(client) {
    const reply = await client.images.generate({ model: 'painter', prompt: 'a green hill', size: '128x128', n: 2 });
    assert.deepEqual(reply.data.map((d) => sizeOf(d.b64_json)), [[128, 128], [128, 128]]);
  },

  async 'images/described'(client) {
    const reply = await client.images.generate({ model: 'painter', prompt: 'a green hill', size: '64x32', output_format: 'jpeg', quality: 'high' });
    assert.equal(Buffer.from(reply.data[0].b64_json, 'base64').toString('hex', 0, 3), 'ffd8ff');
    assert.deepEqual([reply.output_format, reply.size, reply.quality, reply.background], ['jpeg', '64x32', 'high', 'opaque']);
  },

  async 'images/stream'(client) {
    const events = [];
    const stream = await client.images.generate({ model: 'painter', prompt: 'a green hill', size: '64x32', stream: true, partial_images: 1 });
    for await (const event of stream) {
      events.push(event);
    }
    assert.deepEqual(events.map((e) => e.type), ['image_generation.partial_image', 'image_generation.completed']);
    assert.deepEqual(events.map((e) => sizeOf(e.b64_json)), [[64, 32], [64, 32]]);
  },

  async 'images/by-address'(client) {
    const error = await rejected(OpenAI.BadRequestError,
      client.images.generate({ model: 'painter', prompt: 'a green hill', response_format: 'url' }));
    assert.equal(error.param, 'response_format');
  },

  async 'images/unknown-model'(client) {
    const error = await rejected(OpenAI.NotFoundError, client.images.generate({ model: 'nosuch', prompt: 'a green hill' }));
    assert.equal(error.code, 'model_not_found');
  },
};
