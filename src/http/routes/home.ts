/** The page at `/`: the same words for everybody, whatever this server holds. */
import { homePage } from '../../protocol/system/home.js'
import type { Binder } from '../bind.js'

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>svc</title>
<h1>svc</h1>
<p>This is a local runtime for coding agents. It is an API, not a page to talk in: at a terminal, <code>svc chat</code> talks to it.</p>
<ul>
<li><a href="/inspector">The inspector</a>: what goes on in here, live. It asks for the token where this server has one.</li>
<li><a href="/v2/openapi.json">The OpenAPI document</a>: every operation. It needs the token, too.</li>
<li><a href="/v2/health">Health</a>: whether it can answer.</li>
</ul>
<p>Documents came with the program: <code>docs/http.md</code> begins with a tour in <code>curl</code>, <code>docs/client.md</code> is about the client for Node and browsers. <code>svc help</code> lists the commands.</p>
</html>
`

export function homeRoute(bind: Binder): void {
  bind.raw(homePage, async (_call, _request, reply) => {
    const headers = { 'content-type': homePage.success.mediaType, 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' }
    reply.code(200).headers(headers).send(PAGE)
  })
}
