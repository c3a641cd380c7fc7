// Package contract has the commands that use the documents as a product: what they do is
// in packages of their own.
package contract

// Group is the group of these commands in the help.
const Group = "contract"
