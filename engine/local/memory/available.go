package memory

// Available returns how many bytes a new process may use: what the kernel can free
// without slowing other programs down, and no more than the process's cgroup
// limits leave. On macOS it is always half of the machine's memory (see
// [Budget]). On other systems it is an error.
func Available() (int64, error) { return available() }

// Resident returns how many bytes of memory a process uses: of what it allocated, what was
// written to. It returns false where that is not known.
func Resident(pid int) (bytes int64, known bool) { return resident(pid) }

// Budget is how many bytes all models may use together, on systems where
// [Available] does not shrink as they are loaded; 0: no budget is needed.
func Budget() int64 { return budget() }
