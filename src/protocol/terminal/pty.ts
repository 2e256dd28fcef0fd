/** Terminals: records and operations of `dev.svc.pty` (http-contract §2.15, §5.11; subsystems g, d.10). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { pathText } from '../text/path-text.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, uint } from '../shared.js'

const { titleLength, argumentLength, commandParts, sizeMost } = LIMITS.terminals

export const Pty = z
  .looseObject({
    id: z.string(),
    /** Program and arguments. */
    command: z.array(z.string()),
    /** Canonical directory the program starts in. */
    cwd: z.string(),
    title: z.string(),
    /** When the terminal was created, Unix ms. */
    time: uint,
  })
  .meta({ id: 'Pty' })
export type Pty = z.infer<typeof Pty>

const command = z.array(z.string().max(argumentLength)).max(commandParts)
const cwd = pathText.max(4096)
const title = z.string().max(titleLength)
const extent = z.number().int().min(1).max(sizeMost)

export const PtyCreateRequest = z
  .strictObject({ command: command.optional(), cwd: cwd.optional(), title: title.optional() })
  .meta({ id: 'PtyCreateRequest' })
export type PtyCreateRequest = z.infer<typeof PtyCreateRequest>

export const PtyUpdateRequest = z
  .strictObject({
    title: title.optional(),
    cwd: cwd.optional(),
    size: z.strictObject({ cols: extent, rows: extent }).optional(),
  })
  .meta({ id: 'PtyUpdateRequest' })
export type PtyUpdateRequest = z.infer<typeof PtyUpdateRequest>

export const PtyConnectToken = z
  .looseObject({
    ticket: z.string(),
    /** Seconds. */
    expires_in: uint,
  })
  .meta({ id: 'PtyConnectToken' })
export type PtyConnectToken = z.infer<typeof PtyConnectToken>

export const Shell = z
  .looseObject({
    path: z.string(),
    name: z.string(),
    /** May be the program of a terminal nobody named a command for. */
    acceptable: z.boolean(),
  })
  .meta({ id: 'Shell' })
export type Shell = z.infer<typeof Shell>

/** Query text of a whole number of either sign. */
const signedInt = z.preprocess(
  (text) => (typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text),
  z.number('must be a whole number').int('must be a whole number'),
)

export const PtyParams = z.strictObject({ pty_id: z.string() })
/** Without a ticket, or with a bad one, the operation itself refuses: an unknown terminal comes first. */
export const PtyConnectQuery = z.strictObject({ ticket: z.string().optional(), cursor: signedInt.optional() })
export const PtyTicketHeaders = z.looseObject({ 'x-svc-ticket': z.string().optional() })

const PREFIX = '/v2/plugins/dev.svc.pty'
const ONE = `${PREFIX}/{pty_id}`
const common = { tag: 'plugins', access: { class: 'caller' } } as const

export const ptyRoutes = {
  list: defineRoute({
    ...common,
    id: 'v2.plugins.pty.list',
    method: 'GET',
    path: PREFIX,
    summary: 'Terminals, oldest first.',
    success: { status: 200, description: 'Terminals.', schema: z.array(Pty) },
  }),
  create: defineRoute({
    ...common,
    access: { class: 'directory' },
    id: 'v2.plugins.pty.create',
    method: 'POST',
    path: PREFIX,
    headers: directoryHeaders,
    query: z.strictObject(directoryQuery),
    summary: 'Create a terminal; its program starts when somebody connects.',
    body: { schema: PtyCreateRequest, required: true },
    success: { status: 200, description: 'The terminal.', schema: Pty },
  }),
  shells: defineRoute({
    ...common,
    id: 'v2.plugins.pty.shells',
    method: 'GET',
    path: `${PREFIX}/shells`,
    summary: 'Shells of this machine.',
    success: { status: 200, description: 'Shells by path.', schema: z.array(Shell) },
  }),
  get: defineRoute({
    ...common,
    id: 'v2.plugins.pty.get',
    method: 'GET',
    path: ONE,
    params: PtyParams,
    summary: 'One terminal.',
    success: { status: 200, description: 'The terminal.', schema: Pty },
  }),
  update: defineRoute({
    ...common,
    id: 'v2.plugins.pty.update',
    method: 'PUT',
    path: ONE,
    params: PtyParams,
    summary: 'Change title, size, or the directory of the next start.',
    body: { schema: PtyUpdateRequest, required: true },
    success: { status: 200, description: 'The terminal.', schema: Pty },
  }),
  remove: defineRoute({
    ...common,
    id: 'v2.plugins.pty.remove',
    method: 'DELETE',
    path: ONE,
    params: PtyParams,
    summary: 'End a terminal with every process in it, and forget it.',
    success: { status: 200, description: 'True.', schema: z.literal(true) },
  }),
  connectToken: defineRoute({
    ...common,
    id: 'v2.plugins.pty.connectToken',
    method: 'POST',
    path: `${ONE}/connect-token`,
    params: PtyParams,
    headers: PtyTicketHeaders,
    summary: 'Issue a ticket for one connection. The header X-Svc-Ticket must be 1.',
    success: { status: 200, description: 'A ticket that serves once.', schema: PtyConnectToken },
  }),
  connect: defineRoute({
    ...common,
    access: { class: 'open', credential: 'ticket' },
    id: 'v2.plugins.pty.connect',
    method: 'GET',
    path: `${ONE}/connect`,
    params: PtyParams,
    query: PtyConnectQuery,
    summary:
      'Connect to a terminal over a WebSocket; the ticket stands for the credential. Text frames are output, binary frames of a zero byte and JSON {"cursor": n} tell how far it goes (UTF-16 units since the start); everything sent is input.',
    success: { status: 101, description: 'A WebSocket.' },
  }),
} as const
