package chat

import "github.com/diglot/diglot/engine"

// anyTurn is a template that takes any role at any place.
const anyTurn = `{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}{% if add_generation_prompt %}[assistant:{% endif %}`

// thinker shows reasoning, opens it itself, and has a switch.
const thinker = `{% for m in messages %}[{{ m.role }}:{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}]` +
	`{% endfor %}{% if add_generation_prompt %}[assistant:<think>{% if enable_thinking is defined and not enable_thinking %}</think>{% endif %}{% endif %}`

func say(role engine.Role, s string) engine.Message {
	return engine.Message{Role: role, Parts: []engine.Part{engine.Text{Text: s}}}
}

func callMessage(s string, calls ...engine.ToolCall) engine.Message {
	m := engine.Message{Role: engine.RoleAssistant}
	if s != "" {
		m.Parts = append(m.Parts, engine.Text{Text: s})
	}
	for _, c := range calls {
		m.Parts = append(m.Parts, c)
	}
	return m
}

func resultMessage(id, name, s string) engine.Message {
	return engine.Message{Role: engine.RoleTool, Parts: []engine.Part{
		engine.ToolResult{CallID: id, Name: name, Parts: []engine.Part{engine.Text{Text: s}}},
	}}
}

func userParts(parts ...engine.Part) engine.Message {
	return engine.Message{Role: engine.RoleUser, Parts: parts}
}
