// The openai package against the real image engine, over a miniature model; see
// tools/miniature. Its images are noise, but always the same noise.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { rejected } from './harness.js';

const draw = (client, model, options = {}) =>
  client.images.generate({ model, prompt: 'a red house', size: '64x64', quality: 'low', seed: 7, ...options });

function sizeOf(data) {
  const file = Buffer.from(data.b64_json, 'base64');
  assert.equal(file.toString('latin1', 1, 4), 'PNG');
  return `${file.readUInt32BE(16)}x${file.readUInt32BE(20)}`;
}

export const openai = {
  async 'drawing/repeats'(client, model) {
    const image = async (options) => (await draw(client, model, options)).data[0].b64_json;
    const first = await image();
    assert.equal(await image(), first);
    assert.notEqual(await image({ seed: 8 }), first);
    assert.notEqual(await image({ prompt: 'a blue house' }), first);
    writeFileSync(join(process.env.SDK_IMAGES, 'node.png'), Buffer.from(first, 'base64'));
  },

  async 'drawing/three'(client, model) {
    const { data } = await draw(client, model, { n: 3 });
    assert.equal(new Set(data.map((d) => d.b64_json)).size, 3);
  },

  async 'drawing/sizes'(client, model) {
    for (const size of ['64x64', '96x128', '2048x64']) {
      const reply = await draw(client, model, { size });
      assert.deepEqual([sizeOf(reply.data[0]), reply.size, reply.quality, reply.output_format], [size, size, 'low', 'png']);
    }
  },

  async 'drawing/stream'(client, model) {
    const whole = await draw(client, model);
    const events = [];
    for await (const event of await draw(client, model, { stream: true, partial_images: 1 })) {
      events.push(event);
    }
    assert.deepEqual(events.map((e) => e.type), ['image_generation.partial_image', 'image_generation.completed']);
    assert.equal(events[1].b64_json, whole.data[0].b64_json);
  },

  async 'drawing/refused'(client, model) {
    const wrong = [['size', { size: '65x64' }], ['n', { n: 11 }], ['output_format', { output_format: 'webp' }], ['background', { background: 'transparent' }]];
    for (const [param, options] of wrong) {
      assert.equal((await rejected(OpenAI.BadRequestError, draw(client, model, options))).param, param);
    }
  },
};
