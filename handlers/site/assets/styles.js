// The three operations that the form can call: the request of each, and what each of
// its events adds to the answer: {text, reasoning, finish, prompt, completion, error},
// all optional.

const bearer = (key) => (key ? { Authorization: `Bearer ${key}` } : {});

export const styles = {
  chat: {
    path: 'v1/chat/completions',
    headers: bearer,
    body: ({ model, system, prompt, max }) => ({
      model,
      max_tokens: max,
      stream: true,
      stream_options: { include_usage: true },
      messages: [...(system ? [{ role: 'system', content: system }] : []), { role: 'user', content: prompt }],
    }),
    read(data) {
      const { delta, finish_reason: finish } = data.choices?.[0] ?? {};
      return {
        text: delta?.content,
        reasoning: delta?.reasoning_content,
        finish,
        prompt: data.usage?.prompt_tokens,
        completion: data.usage?.completion_tokens,
        error: data.error?.message,
      };
    },
  },

  responses: {
    path: 'v1/responses',
    headers: bearer,
    body: ({ model, system, prompt, max }) => ({
      model,
      max_output_tokens: max,
      stream: true,
      instructions: system || undefined,
      input: prompt,
    }),
    read(data) {
      switch (data.type) {
        case 'response.output_text.delta':
          return { text: data.delta };
        case 'response.reasoning_text.delta':
        case 'response.reasoning_summary_text.delta':
          return { reasoning: data.delta };
        case 'response.completed':
        case 'response.incomplete':
          return {
            finish: data.response.incomplete_details?.reason ?? data.response.status,
            prompt: data.response.usage?.input_tokens,
            completion: data.response.usage?.output_tokens,
          };
        case 'response.failed':
          return { error: data.response.error?.message };
        case 'error':
          return { error: data.message ?? data.error?.message };
        default:
          return {};
      }
    },
  },

  messages: {
    path: 'v1/messages',
    headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key ? { 'x-api-key': key } : {}) }),
    body: ({ model, system, prompt, max }) => ({
      model,
      max_tokens: max ?? 1024, // this style requires it
      stream: true,
      system: system || undefined,
      messages: [{ role: 'user', content: prompt }],
    }),
    read(data) {
      switch (data.type) {
        case 'message_start':
          return { prompt: data.message.usage.input_tokens };
        case 'content_block_delta':
          return { text: data.delta.text, reasoning: data.delta.thinking };
        case 'message_delta':
          return { finish: data.delta.stop_reason, completion: data.usage?.output_tokens };
        case 'error':
          return { error: data.error?.message };
        default:
          return {};
      }
    },
  },
};

// The message of a reply that is an error, in either style, or nothing.
export function errorIn(text) {
  try {
    return JSON.parse(text).error?.message;
  } catch {
    return undefined;
  }
}

// The request as a command for a shell. A key is not shown.
export function curl(style, base, fields) {
  const { path, headers, body } = styles[style];
  const lines = [`curl -N ${base}${path}`, `  -H 'Content-Type: application/json'`];
  for (const [name, value] of Object.entries(headers(fields.key && '$DIGLOT_API_KEY'))) {
    const quote = value.includes('$') ? '"' : "'";
    lines.push(`  -H ${quote}${name}: ${value}${quote}`);
  }
  lines.push(`  -d '${JSON.stringify(body(fields), null, 2).replaceAll("'", "'\\''")}'`);
  return lines.join(' \\\n');
}
