package memory

// Available is how many bytes a process that is started now may take: what the
// machine can free without slowing other programs down, and no more than what
// is left of the limits that this process is under. On systems that do not
// tell, it is half of the machine.
func Available() (int64, error) { return available() }
