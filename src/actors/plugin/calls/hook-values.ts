/** What hooks may answer (plugin-protocol §5.1). An empty list counts as an empty object: some languages have one kind of table. */
import * as z from 'zod'
import { isSteering } from '../../../machines/permission/shell-variables.js'
import { LIMITS } from '../../../protocol/limits.js'
import { headersOf, ProviderMessage } from '../../../protocol/plugin/plugin-services.js'
import { anyRecord } from '../../../protocol/shared.js'

const tableOf = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (Array.isArray(value) && value.length === 0 ? {} : value), schema)

/** `chat.messages`: a request without any is none. */
export const HookedMessages = z.array(ProviderMessage).min(1, 'must not be empty')

/** `chat.options` */
export const HookedOptions = tableOf(anyRecord)

/** `response.text` */
export const HookedAnswer = z
  .string()
  .refine(
    (text) => Buffer.byteLength(text) <= LIMITS.pluginResponses.textBytes,
    `must be at most ${LIMITS.pluginResponses.textBytes} bytes`,
  )

/** Names that decide how a request is framed and where it goes. */
const FRAMING = new Set(['host', 'connection', 'content-length', 'content-type', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'expect'])
const HeaderName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is no name of a header')
  .refine((name) => !FRAMING.has(name.toLowerCase()), 'is set by the server')
const HeaderValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'is no value of a header')

/** `chat.headers` */
export const HookedHeaders = tableOf(headersOf(z.record(HeaderName, HeaderValue)))

/** `tool.definition`: the id stays. */
export const hookedDefinition = (toolId: string) =>
  z
    .looseObject({ id: z.literal(toolId), description: z.string(), parameters: tableOf(anyRecord), outputSchema: z.unknown().optional() })
    .refine((tool) => Buffer.byteLength(JSON.stringify(tool)) <= LIMITS.plugins.definitionBytes, {
      message: `must be at most ${LIMITS.plugins.definitionBytes} bytes`,
    })

/** `tool.after`; metadata that are no object are wrapped, as those of tools are. */
export const HookedResult = z.looseObject({
  title: z.string(),
  output: z.string(),
  metadata: z.unknown().transform((value): Record<string, unknown> => {
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return {}
    return typeof value === 'object' && !Array.isArray(value) ? { ...value } : { raw: value }
  }),
})

/**
 * Variables that make a shell, a loader or a program run or trust something else, or count among the server's own: a
 * command was judged without them, and plugins without files and programs may set them, too (threat-model K1, G1).
 */
const REFUSED = /^(?:SVC_.*|LD_.*|DYLD_.*|BASH.*|ENV|SHELLOPTS|PROMPT_COMMAND|PS4|IFS|PWD|OLDPWD)$/i
const VariableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of a variable')
  .refine((name) => !REFUSED.test(name), 'may not be set by plugins')
const VariableValue = z.string().refine((value) => !value.includes('\0'), 'contains a NUL character')

/** `shell.env`: a `PATH` must name absolute directories and nothing else. */
export const HookedVariables = tableOf(
  z
    .record(VariableName, VariableValue)
    .superRefine((variables, issues) => {
      for (const [name, value] of Object.entries(variables))
        if (isSteering(name, value))
          issues.addIssue({ code: 'custom', path: [name], message: 'may not be set by plugins: it decides what programs run or trust' })
    })
    .refine(({ PATH: path }) => path === undefined || path.split(':').every((entry) => entry.startsWith('/')), {
      path: ['PATH'],
      message: 'must be absolute directories joined by ":"',
    })
    .refine((variables) => Buffer.byteLength(JSON.stringify(variables)) <= LIMITS.plugins.brokerInput, {
      message: `must be at most ${LIMITS.plugins.brokerInput} bytes`,
    }),
)
