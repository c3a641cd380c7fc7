package memory

// Available is how many bytes a process that is started now may take: what the
// machine can free without slowing other programs down, and no more than what
// is left of the limits that this process is under. macOS does not tell: there
// it is half of the machine, whatever is taken of it (see [Budget]). Of other
// systems than these two, nothing is known, which is an error.
func Available() (int64, error) { return available() }

// Budget is how many bytes all models together may take where [Available] does
// not follow what they take; 0: it does, and needs no budget beside it.
func Budget() int64 { return budget() }
