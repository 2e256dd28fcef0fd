/** Signing in to servers of the Model Context Protocol: records (http-contract §2.14) and operations (§5.10; subsystems f.5). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { directoryQuery } from '../shared.js'
import { MCP_PREFIX, McpServerParams, McpStatus, ofServerOfOperator } from './mcp.js'

const McpAuthStartResponse = z.looseObject({ authorizationUrl: z.string(), oauthState: z.string() }).meta({ id: 'McpAuthStartResponse' })
const McpAuthRemoveResponse = z.looseObject({ success: z.boolean() }).meta({ id: 'McpAuthRemoveResponse' })
/** The code, or the whole address that the browser came back to. */
export const McpCodeRequest = z.strictObject({ code: z.string().min(1) }).meta({ id: 'CodeRequest' })

/** The state is what a browser that comes back is known by; other parameters of the answer are for the sign-in itself. */
export const McpCallbackQuery = z.looseObject({
  ...directoryQuery,
  code: z.string().optional(),
  state: z.string().optional(),
  iss: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
})

const ONE = `${MCP_PREFIX}/{name}`

export const mcpAuthRoutes = {
  authStart: defineRoute({
    ...ofServerOfOperator,
    id: 'v2.plugins.mcp.auth.start',
    method: 'POST',
    path: `${ONE}/auth`,
    summary: 'Begin to sign in to a server: the address that a browser opens.',
    success: { status: 200, description: 'Where to sign in.', schema: McpAuthStartResponse },
  }),
  authRemove: defineRoute({
    ...ofServerOfOperator,
    id: 'v2.plugins.mcp.auth.remove',
    method: 'DELETE',
    path: `${ONE}/auth`,
    summary: 'Forget tokens and registration of a server, and end its connection.',
    success: { status: 200, description: 'That they are forgotten.', schema: McpAuthRemoveResponse },
  }),
  authenticate: defineRoute({
    ...ofServerOfOperator,
    id: 'v2.plugins.mcp.auth.authenticate',
    method: 'POST',
    path: `${ONE}/auth/authenticate`,
    summary: 'Renew the token of a server when that is needed, and connect it.',
    success: { status: 200, description: 'How the server is.', schema: McpStatus },
  }),
  callbackPage: defineRoute({
    id: 'v2.plugins.mcp.auth.callback.get',
    method: 'GET',
    path: `${ONE}/auth/callback`,
    tag: 'plugins',
    access: { class: 'open', credential: 'state' },
    isReturn: true,
    params: McpServerParams,
    query: McpCallbackQuery,
    summary: 'Where a browser comes back to after signing in. The state stands for the credential.',
    success: { status: 200, description: 'A page that says whether it worked.', mediaType: 'text/html' },
  }),
  callback: defineRoute({
    ...ofServerOfOperator,
    id: 'v2.plugins.mcp.auth.callback.post',
    method: 'POST',
    path: `${ONE}/auth/callback`,
    summary: 'Hand over the code of the sign-in that is under way, or the whole address that the browser came back to.',
    body: { schema: McpCodeRequest, required: true },
    success: { status: 200, description: 'How the server is.', schema: McpStatus },
  }),
} as const
