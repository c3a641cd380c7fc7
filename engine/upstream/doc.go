// Package upstream is an engine whose models are served elsewhere: by vLLM,
// SGLang, llama-server, a cloud, or another diglot; by whatever speaks the
// OpenAI chat style. It is the reverse of handlers/openai: a neutral request
// becomes a body of that style, and the chunks of the reply become events.
// Clients of either style meet it as any other engine, so no request passes
// through the style that its client does not speak, except on the wire to a
// server that speaks no other.
//
//	engine.go     what there is to configure, and the operations
//	call.go       one request: key, retries, silence, redirects
//	request.go    engine to wire
//	message.go    the messages of a request
//	stream.go     wire to engine: chunks become events
//	errors.go     what a status and a body become
//	report.go     the same, where the server speaks to its own user
//	quirks.go     what a server turned out not to know
//	denial.go     in what words it says so
//	weigh.go      what a reply takes in memory, before it is decoded
//
// Servers of one style differ in the members that they know and in what they
// tell. Nothing here asks which program a server is. A member that not every
// server knows is sent where the request needs it, and taken back when the
// server says that it does not know it. What is told in one of several ways
// is read in all of them. What a server does not tell stays unknown: a count
// that never came is 0.
//
// Requests of one conversation carry the same hash in a header, so that a
// router in front of many servers can send them where the beginning of the
// conversation is still in the cache.
package upstream
