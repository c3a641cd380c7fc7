// Requests of the size and shape that coding agents send: dozens of tools,
// long system texts, fields of every new feature. Their words are our own.

import assert from 'node:assert/strict';
import { user } from './harness.js';

const subjects = ['file', 'folder', 'branch', 'process', 'page', 'notebook', 'task', 'symbol'];
const verbs = ['read', 'write', 'search'];

// A text of about the given number of characters, the same on every run.
function prose(topic, length) {
  const sentences = [
    `Use this for one ${topic} at a time, and say which one.`,
    `A path is absolute; a ${topic} outside the project is left alone.`,
    `When the ${topic} is large, ask for the part that is needed and no more.`,
    `Report what was seen of the ${topic}, not what was expected.`,
    `If it fails twice in the same way, stop and explain the failure.`,
    `Quotes "like these", braces {and} <tags>, and a backslash \\ occur in real prompts.`,
  ];
  let text = '';
  for (let i = 0; text.length < length; i++) text += `${i + 1}. ${sentences[i % sentences.length]}\n`;
  return text.slice(0, length);
}

const schema = (topic) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    path: { type: 'string', description: prose(topic, 180) },
    limit: { type: 'integer', minimum: 1, maximum: 2000, description: prose('result', 90) },
    mode: { type: 'string', enum: ['fast', 'exact', 'all'] },
    edits: {
      type: 'array',
      items: {
        type: 'object',
        properties: { old: { type: 'string' }, new: { type: 'string' } },
        required: ['old', 'new'],
        additionalProperties: false,
      },
    },
  },
  required: ['path'],
  additionalProperties: false,
});

const tools = verbs.flatMap((verb) => subjects.map((subject) => ({ name: `${verb}_${subject}`, topic: subject })));

export const agents = {
  openai: {
    // 40 KB: two developer messages, two user messages, seven tools.
    async 'chat/agent'(client, model) {
      const stream = client.chat.completions.stream({
        model,
        messages: [
          { role: 'developer', content: prose('command', 17_000) },
          { role: 'developer', content: prose('sandbox', 2_500) },
          ...user(prose('project', 5_000)),
          ...user('Say hello, and nothing else.'),
        ],
        tools: tools.slice(0, 7).map(({ name, topic }) => ({
          type: 'function',
          function: { name, description: prose(topic, 1_200), strict: false, parameters: schema(topic) },
        })),
        tool_choice: 'auto',
        parallel_tool_calls: true,
        reasoning_effort: 'medium',
        store: false,
        prompt_cache_key: '0198c0de-0000-7000-8000-000000000000',
        stream_options: { include_usage: true },
      });
      const final = await stream.finalChatCompletion();
      assert.equal(final.choices[0].message.content, 'Hello there!');
      assert.ok(final.usage.prompt_tokens > 1_000);
    },
  },

  anthropic: {
    // 76 KB: 24 tools, three system blocks, of which the first changes with
    // each conversation, and a system turn among the messages.
    async 'messages/agent'(client, model) {
      const cached = { type: 'ephemeral' };
      const stream = client.beta.messages.stream({
        model,
        max_tokens: 32_000,
        betas: ['context-management-2025-06-27', 'interleaved-thinking-2025-05-14'],
        system: [
          { type: 'text', text: 'x-billing-note: version=2; entry=cli; conversation=5f2b;' },
          { type: 'text', text: 'You are a careful programmer.', cache_control: cached },
          { type: 'text', text: prose('repository', 6_000), cache_control: cached },
        ],
        messages: [
          { role: 'system', content: prose('environment', 6_000) },
          { role: 'user', content: [
            { type: 'text', text: '<reminder>Nothing is remembered.</reminder>' },
            { type: 'text', text: 'Say hello, and nothing else.', cache_control: cached },
          ] },
        ],
        tools: tools.map(({ name, topic }) => ({
          name, description: prose(topic, 1_750), input_schema: schema(topic), eager_input_streaming: true })),
        thinking: { type: 'adaptive' },
        metadata: { user_id: JSON.stringify({ device: 'd'.repeat(64), session: '5f2b' }) },
        context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
        output_config: { effort: 'high' },
      });
      const final = await stream.finalMessage();
      assert.equal(final.content.at(-1).text, 'Hello there!');
      assert.ok(final.usage.input_tokens > 1_000);
    },
  },
};
