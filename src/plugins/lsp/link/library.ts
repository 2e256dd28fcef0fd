/** What is used of the library of the protocol; loaded when the first server starts. */
export { CancellationTokenSource, createMessageConnection, Emitter, Message, ResponseError } from 'vscode-jsonrpc/node'
