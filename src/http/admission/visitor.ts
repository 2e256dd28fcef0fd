/**
 * The page of a person who opens the address of a server in a browser: `/` and `/inspector` are no operations and answer 404, with
 * where to go. The same words for everybody, whatever this server holds; links are relative, so that a path before them stays.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PLAIN_PAGE } from '../pages.js'

const ADDRESSES: ReadonlySet<string> = new Set(['/', '/inspector'])

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>svc</title>
<h1>svc</h1>
<p>This is a local runtime for coding agents. It is an API, not a page to talk in: at a terminal, <code>svc chat</code> talks to it.</p>
<ul>
<li><a href="v2/inspector">The inspector</a>: what goes on in here, live. It asks for the token where this server has one.</li>
<li><a href="v2/openapi.json">The OpenAPI document</a>: every operation. It needs the token, too.</li>
<li><a href="v2/health">Health</a>: whether it can answer.</li>
</ul>
<p>Documents came with the program: <code>docs/http.md</code> begins with a tour in <code>curl</code>, <code>docs/client.md</code> is about the client for Node and browsers. <code>svc help</code> lists the commands.</p>
</html>
`

/** Whether a request that has no operation is a browser that was led to one of these addresses. */
export function isVisitor({ method, headers, is404 }: Pick<FastifyRequest, 'method' | 'headers' | 'is404'>, path: string): boolean {
  if (!is404 || method !== 'GET' || !ADDRESSES.has(path)) return false
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? prefersHtml(headers.accept ?? '') : mode === 'navigate'
}

export function sendHome(reply: FastifyReply): void {
  reply.code(404).headers(PLAIN_PAGE).send(PAGE)
}

/** Whether HTML stands before everything else that is accepted (RFC 9110, 12.5.1); of equal weights the first counts. */
function prefersHtml(accept: string): boolean {
  const weighed = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
  })
  const [first] = weighed.toSorted((one, other) => other.weight - one.weight)
  return first?.type === 'text/html' && first.weight > 0
}
