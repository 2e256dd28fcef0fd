/** Bodies that are JSON. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Undefined for what is no JSON; rejects what is longer. */
export async function readJson(request: IncomingMessage, longest: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > longest) throw new Error('the body is too long')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown
  } catch {
    return undefined
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return void response.destroy()
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))
}
