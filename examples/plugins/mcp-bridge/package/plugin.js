/**
 * Lets programs that speak MCP read the workspace through svc: an editor, or another agent, connects to
 *
 *     POST /v2/plugins/dev.example.mcp-bridge/mcp?directory=<workspace>
 *
 * with the token of the server as `authorization: Bearer …`. Streamable HTTP without a session: each request is answered at once, as JSON.
 */
import { definePlugin } from './svc-plugin.js'
import { TOOLS } from './tools.js'

/** The newest is offered to a client that asks for one that is not here. */
const VERSIONS = ['2025-06-18', '2025-03-26']
const [PARSE, INVALID, UNKNOWN, PARAMS] = [-32700, -32600, -32601, -32602]

class RpcError extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'svc-mcp-bridge', version: '1.0.0' },
  }),

  ping: () => ({}),

  'tools/list': () => ({ tools: TOOLS.map(({ call: _, ...tool }) => tool) }),

  async 'tools/call'({ name, arguments: input = {} }, call) {
    const tool = TOOLS.find((each) => each.name === name)
    if (tool === undefined) throw new RpcError(PARAMS, `unknown tool ${name}`)
    try {
      return { content: [{ type: 'text', text: await tool.call(input, call.host.workspace) }] }
    } catch (error) {
      return { content: [{ type: 'text', text: error.message }], isError: true }
    }
  },
}

async function answerTo(message, call) {
  const { id, method, params } = message
  try {
    if (message.jsonrpc !== '2.0' || typeof method !== 'string') throw new RpcError(INVALID, 'this is no request')
    if (!Object.hasOwn(methods, method)) throw new RpcError(UNKNOWN, `unknown method ${method}`)
    return { jsonrpc: '2.0', id, result: await methods[method](params ?? {}, call) }
  } catch (error) {
    return { jsonrpc: '2.0', id: id ?? null, error: { code: error.code ?? INVALID, message: error.message } }
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' }

async function handle({ body }, call) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const error = { code: PARSE, message: 'send one message, as an object' }
    return { status: 400, headers: JSON_HEADERS, body: { jsonrpc: '2.0', id: null, error } }
  }
  const isNotice = body.id === undefined && typeof body.method === 'string'
  const isAnswer = body.method === undefined && ('result' in body || 'error' in body)
  if (isNotice || isAnswer) return { status: 202 }
  return { status: 200, headers: JSON_HEADERS, body: await answerTo(body, call) }
}

const route = (method, handler) => ({
  descriptor: { id: `mcp-${method.toLowerCase()}`, method, path: '/mcp', scope: 'workspace' },
  handle: handler,
})

export const plugin = definePlugin({
  name: 'MCP bridge',
  version: '1.0.0',
  mcp: [{ id: 'mcp-bridge', transport: 'http', tools: true }],
  // It has nothing to say by itself, and says so to who would listen.
  routes: [route('POST', handle), route('GET', () => ({ status: 405, headers: { allow: 'POST' } }))],
})
