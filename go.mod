module github.com/diglot/diglot

go 1.27
