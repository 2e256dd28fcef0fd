/** Parsing of request pieces, with messages that name the field and what was expected of it. */
import * as z from 'zod'
import { cut } from '../../kernel/cut.js'
import { SvcError } from '../errors.js'
import { type Fault, firstFault, isLarge } from './first-fault.js'
import { asDeclared } from './leniency.js'

export type RequestPiece = 'path' | 'query' | 'header' | 'body'

const SHOWN_ISSUES = 8
const SHOWN_LENGTH = 300

/** The field names an object schema declares; empty for every other schema. */
export function fieldNames(schema: z.ZodType | undefined): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/** The parsed value; `request.invalid` naming the first few fields that do not fit (choice 1). */
export function parseRequest<S extends z.ZodType>(schema: S, piece: RequestPiece, value: unknown): z.output<S> {
  const meant = asDeclared(schema, value)
  const fault = isLarge(meant) ? firstFault(schema, meant) : undefined
  if (fault !== undefined) throw refusal([describe(piece, fault)])
  const result = schema.safeParse(meant)
  if (result.success) return result.data
  throw refusal(result.error.issues.slice(0, SHOWN_ISSUES).map((issue) => describe(piece, issue)))
}

function refusal(issues: readonly { readonly path: string; readonly message: string }[]): SvcError {
  const first = issues[0]
  return new SvcError('request.invalid', first === undefined ? undefined : `${first.path}: ${first.message}`, { issues })
}

function describe(piece: RequestPiece, issue: Fault): { path: string; message: string } {
  const path = issue.path.reduce<string>((text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${String(step)}`), piece)
  const message = issue.message.replace(/^Invalid input: /, '').replace('expected ', 'must be ')
  return {
    path: cut(path, SHOWN_LENGTH),
    message: cut(
      isMisplaced(piece, message) ? `${message}; a directory is given as ?directory= or as X-Svc-Directory` : message,
      SHOWN_LENGTH,
    ),
  }
}

/** Where a call works stands beside its body everywhere, and is looked for inside by many. */
function isMisplaced(piece: RequestPiece, message: string): boolean {
  return piece === 'body' && /^Unrecognized keys?: .*"directory"/.test(message)
}
