/** What an author holds a package to: `svc-plugin.test.json`, beside the package, in every language the same. */
import * as z from 'zod'
import { messageOf } from '../../../protocol/message-of.js'
import { readFileSync } from 'node:fs'
import { SvcError } from '../../../protocol/errors.js'

const fields = z.record(z.string(), z.unknown())
const SERVICES = ['agents', 'commands', 'skills', 'systemContext', 'prompts', 'config'] as const

const common = {
  /** What is shown; what is called, where it is absent. */
  name: z.string().exactOptional(),
  /** What must be in the answer: members of an object, each item of a list. */
  expect: z.unknown().optional(),
  /** A part of the error that is to be answered. */
  error: z.string().exactOptional(),
  /** A part of what it writes to its log meanwhile. */
  log: z.string().exactOptional(),
  /** What the host answers meanwhile, by method: a value, `{ "$error": "…" }`, a text or `{ "$base64": "…" }` for the bytes of a file. */
  host: fields.exactOptional(),
  /** Methods that it has to ask the host for meanwhile, in this order. */
  asks: z.array(z.string()).exactOptional(),
}

const Check = z.union([
  z.strictObject({
    tool: z.string(),
    input: z.unknown().optional(),
    sessionId: z.string().exactOptional(),
    progress: z.unknown().optional(),
    ...common,
  }),
  z.strictObject({ hook: z.string(), context: fields.exactOptional(), value: z.unknown().optional(), ...common }),
  z.strictObject({ event: z.looseObject({ type: z.string() }), ...common }),
  z.strictObject({ service: z.enum(SERVICES), id: z.string(), request: fields.exactOptional(), ...common }),
  z.strictObject({ route: z.string(), request: fields.exactOptional(), ...common }),
  z.strictObject({ socket: z.string(), request: fields.exactOptional(), send: z.array(fields).exactOptional(), ...common }),
  z.strictObject({ provider: z.string(), request: fields, ...common }),
])
export type Check = z.infer<typeof Check>

const CheckFile = z.strictObject({
  /** `initialize.config`. */
  config: z.unknown().optional(),
  /** What the host answers in every check. */
  host: fields.exactOptional(),
  checks: z.array(Check).default([]),
})
export type CheckFile = z.infer<typeof CheckFile>

/** No checks where there is no file. Throws a sentence for one that cannot be understood. */
export function readChecks(file: string): CheckFile {
  try {
    return CheckFile.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { checks: [] }
    throw new SvcError(
      'request.invalid',
      `${file} cannot be understood: ${error instanceof z.ZodError ? issueText(error) : messageOf(error)}`,
    )
  }
}

/** Of a check that is none of the kinds, what each says is no help. */
function issueText({ issues }: z.ZodError): string {
  const [issue] = issues
  const at = issue?.path.map(String).join('.') ?? ''
  if (issue?.code === 'invalid_union')
    return `${at}: a check has one of tool, hook, event, service, route, socket, provider, and what belongs to that`
  return `${at}: ${issue?.message ?? 'malformed'}`
}

/** What is shown of a check. */
export function nameOf(check: Check): string {
  if (check.name !== undefined) return check.name
  if ('tool' in check) return `tool ${check.tool}`
  if ('hook' in check) return `hook ${check.hook}`
  if ('event' in check) return `event ${check.event.type}`
  if ('service' in check) return `${check.service} ${check.id}`
  if ('route' in check) return `route ${check.route}`
  return 'socket' in check ? `socket ${check.socket}` : `provider ${check.provider}`
}
