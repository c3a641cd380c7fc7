// What a client does when the server fails, without a model and without a network.

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { replay } from './replay.js'

const model = 'any-name'
const messages = [{ role: 'user', content: 'How warm is it in Oslo?' }]
const weather = {
  type: 'object',
  properties: { city: { type: 'string', enum: ['Oslo', 'Lima'] } },
  required: ['city'],
}

const twiceBusy = `
faults:
  - fault: status=503;retry-after=1
    path: /v1/chat/completions
    times: 2
  - fault: status=529;retry-after=1
    path: /v1/messages
    times: 2
`

const openai = (url, maxRetries = 0) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries })
const anthropic = (url, maxRetries = 0) => new Anthropic({ baseURL: url, apiKey: 'none', maxRetries })

test('the OpenAI client retries', async () => {
  const client = openai(await replay(twiceBusy), 2)
  const answer = await client.chat.completions.create({ model, messages })
  expect(answer.choices[0].message.content).toContain('Oslo')
})

test('the OpenAI client gives up', async () => {
  const client = openai(await replay(twiceBusy))
  await expect(client.chat.completions.create({ model, messages })).rejects.toMatchObject({ status: 503 })
})

test('the Anthropic client retries', async () => {
  const client = anthropic(await replay(twiceBusy), 2)
  const answer = await client.messages.create({ model, max_tokens: 64, messages })
  expect(answer.content[0].text).toContain('Oslo')
})

test('an OpenAI stream breaks off', async () => {
  const client = openai(await replay())
  const stream = await client.chat.completions.create(
    { model, messages, stream: true },
    { headers: { 'Diglot-Fault': 'cut;after=4' } },
  )
  let text = ''
  await expect(async () => {
    for await (const chunk of stream) text += chunk.choices[0].delta.content ?? ''
  }).rejects.toThrow()
  expect(text).not.toBe('')
})

test('an error in an Anthropic stream', async () => {
  const client = anthropic(await replay())
  const stream = client.messages.stream(
    { model, max_tokens: 64, messages },
    { headers: { 'Diglot-Fault': 'error=overloaded;after=2' } },
  )
  await expect(stream.finalMessage()).rejects.toThrow(/overloaded/i)
})

test('a tool is called', async () => {
  const url = await replay()
  const chat = await openai(url).chat.completions.create({
    model,
    messages,
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: weather } }],
    tool_choice: 'required',
  })
  expect(JSON.parse(chat.choices[0].message.tool_calls[0].function.arguments)).toEqual({ city: 'Oslo' })
  const message = await anthropic(url).messages.create({
    model,
    max_tokens: 256,
    messages,
    tools: [{ name: 'get_weather', input_schema: weather }],
    tool_choice: { type: 'any' },
  })
  expect(message.content.filter((block) => block.type === 'tool_use').map((block) => block.input)).toEqual([{ city: 'Oslo' }])
})
