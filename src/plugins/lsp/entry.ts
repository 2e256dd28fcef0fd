/** One entry of `lsp` in the configuration (subsystems e.2). */
import * as z from 'zod'
import { LspCapability } from '../../protocol/lsp/lsp.js'

const strings = z.array(z.string().min(1))
const extensions = strings.transform((all) => all.map((each) => each.replace(/^\./, '').toLowerCase()))
const port = z.number().int().min(1).max(65_535)
const PORT = /^[1-9]\d{0,4}$/
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])$/

/** `host:port`, with or without `tcp://`. */
const Endpoint = z
  .string()
  .transform((text) => text.replace(/^tcp:\/\//, '').replace(/\/$/, ''))
  .refine(isEndpoint, 'must be "host:port"')

const Entry = z.looseObject({
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  /** An adapter of the registry whose files and markers it has. */
  adapter: z.string().optional(),
  name: z.string().min(1).optional(),
  command: z
    .union([
      z
        .string()
        .trim()
        .min(1)
        .transform((text) => text.split(/\s+/)),
      strings.min(1),
    ])
    .optional(),
  transport: z.enum(['stdio', 'tcp']).optional(),
  endpoint: Endpoint.optional(),
  host: z.string().regex(HOST).optional(),
  port: port.optional(),
  language: z.string().min(1).optional(),
  extensions: extensions.optional(),
  filenamePatterns: strings.optional(),
  /** Files and what documents of them are written in; stands for `extensions` and `filenamePatterns`. */
  routes: z
    .array(
      z
        .looseObject({
          language: z.string().min(1).optional(),
          extensions: extensions.optional(),
          filenamePatterns: strings.optional(),
        })
        .refine((route) => (route.extensions ?? route.filenamePatterns ?? []).length > 0, 'needs "extensions" or "filenamePatterns"'),
    )
    .min(1)
    .optional(),
  markers: strings.optional(),
  rootMarkers: strings.optional(),
  rootStrategy: z.enum(['nearestMarker', 'cargoMetadata']).optional(),
  /** All it is asked for; turned into what it is not asked for. */
  capabilities: z
    .array(LspCapability)
    .transform((all) => LspCapability.options.filter((each) => !all.includes(each)))
    .optional(),
  /** Added to the environment of the program. */
  env: z.record(z.string(), z.string()).optional(),
  documentLanguageId: z.string().min(1).optional(),
  initializationOptions: z.unknown().optional(),
  initialization: z.unknown().optional(),
  settings: z.unknown().optional(),
})
export type AdapterEntry = z.infer<typeof Entry>

export function isEndpoint(text: string): boolean {
  const at = text.lastIndexOf(':')
  const to = text.slice(at + 1)
  return HOST.test(text.slice(0, Math.max(0, at))) && PORT.test(to) && Number(to) <= 65_535
}

export function readEntry(value: unknown) {
  return Entry.safeParse(value)
}

export function faultOf({ issues: [first] }: z.ZodError): string {
  return first === undefined || first.path.length === 0 ? 'must be false or an object' : `"${first.path.join('.')}": ${first.message}`
}
