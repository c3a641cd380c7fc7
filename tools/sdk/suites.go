package main

// suite is a program that runs clients against the server: how to install it, and its
// command, to which base URL, model and mode are appended.
type suite struct {
	name    string
	folder  string
	clients []string // client names in cassettes; default: the suite's name
	pinned  string   // file with the exact versions; empty: always install
	target  string   // folder that install writes
	install []string // run in folder
	command []string // run in folder
	env     []string
	// real: it has cases for a real model, whose output is not known.
	real bool
	// native: it runs programs that do not exist for all platforms, and is skipped
	// without them.
	native bool
	// needs are suites whose installations it uses.
	needs []string
	// plays: it asks for what is recorded, so it is not recorded itself.
	plays bool
	// wordy: it sends texts under its makers' copyright, which are masked in
	// cassettes.
	wordy bool
}

var suites = []suite{
	pythonSuite("python", "python", "requirements.txt", "../../../.cache/sdk-python", "main.py"),
	nodeSuite("node", "node", "package.json", "npm", "install", "--no-package-lock"),
	{
		name: "go", folder: ".", real: true,
		install: []string{"go", "test", "-c", "-o", "../../.cache/sdk-go/suite", "./go"},
		command: []string{"../../.cache/sdk-go/suite"},
		env:     []string{"CGO_ENABLED=0"},
	},
	frameworksOfNode(),
	// One folder each: they pin each other's SDKs.
	frameworkOfPython("langchain"),
	frameworkOfPython("litellm"),
	frameworkOfPython("pydanticai"),
	frameworkOfPython("instructor"),
	agents(),
	{
		name: "examples", folder: ".", plays: true,
		needs:   []string{"python", "node", "frameworks", "langchain", "litellm", "agents"},
		install: []string{"go", "build", "-o", "../../.cache/sdk-examples/examples", "./examples"},
		command: []string{"../../.cache/sdk-examples/examples"},
		env:     []string{"CGO_ENABLED=0"},
	},
}

// pythonSuite installs into a folder, not a virtual environment: that needs only pip,
// also with an externally managed Python.
func pythonSuite(name, folder, pinned, target string, command ...string) suite {
	return suite{
		name: name, folder: folder, pinned: pinned, target: target, real: true,
		install: []string{"python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
			"--root-user-action", "ignore", "--upgrade", "--target", target, "-r", pinned},
		command: append([]string{"python3"}, command...),
		env:     []string{"PYTHONPATH=" + target, "PYTHONDONTWRITEBYTECODE=1"},
	}
}

func frameworkOfPython(name string) suite {
	s := pythonSuite(name, "frameworks/python", name+".txt", "../../../../.cache/sdk-"+name, "main.py", name)
	s.real = false
	s.wordy = true
	return s
}

func nodeSuite(name, folder, pinned string, install ...string) suite {
	return suite{
		name: name, folder: folder, pinned: pinned, target: "node_modules", real: true,
		install: append(install, "--no-audit", "--no-fund", "--loglevel", "error"),
		command: []string{"node", "main.js"},
	}
}

func frameworksOfNode() suite {
	s := nodeSuite("frameworks", "frameworks/node", "package-lock.json", "npm", "ci")
	s.real = false
	s.clients = []string{"vercel", "vercelcompatible", "langchainjs"}
	return s
}

func agents() suite {
	s := nodeSuite("agents", "agents", "package-lock.json", "npm", "ci")
	s.real = false
	s.native, s.wordy = true, true
	s.clients = []string{"claudecode", "codex"}
	return s
}

// named returns the client names of the suite's cassettes.
func (s suite) named() []string {
	if len(s.clients) > 0 {
		return s.clients
	}
	return []string{s.name}
}
