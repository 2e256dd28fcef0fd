/** Whether svc knows a key of the configuration, by the schema that `svc config schema` prints. Pure. */
import { canonicalKey, isEditorGroup } from '../../../protocol/resource/agent-config.js'
import { isRecord } from '../../../protocol/text/json.js'
import { nearest } from '../../../protocol/text/nearest.js'

type Schema = Readonly<Record<string, unknown>>

export interface UnknownKey {
  /** The key as far as it is known, then the step that is not. */
  readonly key: string
  /** The step that may be meant. */
  readonly near?: string
  readonly known: readonly string[]
}

/** What else a map with named members takes is for whoever reads it: a provider, a plugin. */
const OPEN: ReadonlySet<string> = new Set(['options', 'plugins', 'mcp'])

/** The first step that the schema does not have; undefined where all are known, or may be anything. */
export function unknownKey(document: Schema, steps: readonly string[]): UnknownKey | undefined {
  // The document may stand below "agent", beside what others keep in the same file.
  const [first = '', second] = steps
  if (isEditorGroup(first)) return undefined
  const isWrapped = first === 'agent' && second !== undefined && isRecord(document['properties']) && second in document['properties']
  return look(document, document, steps, isWrapped ? 1 : 0)
}

function look(document: Schema, node: unknown, steps: readonly string[], at: number): UnknownKey | undefined {
  const step = steps[at]
  const schema = resolved(document, node)
  if (step === undefined || schema === undefined) return undefined
  if (Array.isArray(schema['anyOf'])) {
    const found = schema['anyOf'].map((each) => look(document, each, steps, at))
    return found.every((each) => each !== undefined) ? found[0] : undefined
  }
  const properties = isRecord(schema['properties']) ? schema['properties'] : undefined
  const name = canonicalKey(steps.slice(0, at), step)
  if (properties !== undefined && Object.hasOwn(properties, name)) return look(document, properties[name], steps, at + 1)
  const further = schema['additionalProperties']
  if (isRecord(further) && Object.keys(further).length > 0) return look(document, further, steps, at + 1)
  if (properties === undefined || OPEN.has(steps[at - 1] ?? '')) return undefined
  const known = Object.keys(properties)
  const near = nearest(step, known)
  return { key: steps.slice(0, at + 1).join('.'), known, ...(near !== undefined && { near }) }
}

function resolved(document: Schema, node: unknown): Schema | undefined {
  if (!isRecord(node)) return undefined
  const { $ref } = node
  if (typeof $ref !== 'string') return node
  const target = $ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((inner, step) => (isRecord(inner) ? inner[step] : undefined), document)
  return isRecord(target) ? target : undefined
}
