/** What language servers say, in the records of the contract (http-contract §2.13; subsystems e.8). Ranges count lines and bytes from one. */
import * as z from 'zod'
import { uint } from '../shared.js'

const LspPosition = z.strictObject({ line: uint, character: uint })
export const LspRange = z.strictObject({ start: LspPosition, end: LspPosition })
export type LspRange = z.infer<typeof LspRange>

const language = z.string().nullable()
const range = LspRange.nullable()

/** `path` is relative to the workspace when it is inside. */
export const LspLocation = z.strictObject({ path: z.string(), range, language })
export type LspLocation = z.infer<typeof LspLocation>

export const LspHover = z.strictObject({ path: z.string(), contents: z.string(), kind: z.string().nullable(), range, language })
export type LspHover = z.infer<typeof LspHover>

export const LspDiagnostic = z.strictObject({
  path: z.string(),
  range,
  severity: z.enum(['error', 'warning', 'information', 'hint', 'unknown']),
  code: z.string().nullable(),
  code_description: z.string().nullable(),
  source: z.string().nullable(),
  message: z.string(),
  tags: z.array(z.enum(['unnecessary', 'deprecated'])),
  related_information: z.array(z.looseObject({ path: z.string(), range, message: z.string() })),
  data: z.unknown().optional(),
  language,
})
export type LspDiagnostic = z.infer<typeof LspDiagnostic>

export const LspDocumentHighlight = z.strictObject({
  path: z.string(),
  range,
  kind: z.enum(['text', 'read', 'write']).nullable(),
  language,
})
export type LspDocumentHighlight = z.infer<typeof LspDocumentHighlight>

export const LspDocumentSymbol = z
  .looseObject({
    name: z.string(),
    /** `class`, `function`, `enummember`, … */
    kind: z.string(),
    detail: z.string().nullable(),
    path: z.string(),
    range,
    selection_range: range,
    get children(): z.ZodArray<typeof LspDocumentSymbol> {
      return z.array(LspDocumentSymbol)
    },
    language,
  })
  .meta({ id: 'LspDocumentSymbol' })
export type LspDocumentSymbol = z.infer<typeof LspDocumentSymbol>

export const LspInlayHint = z.strictObject({
  path: z.string(),
  line: uint,
  character: uint,
  label: z.string(),
  kind: z.enum(['type', 'parameter']).nullable(),
  padding_left: z.boolean(),
  padding_right: z.boolean(),
  language,
})
export type LspInlayHint = z.infer<typeof LspInlayHint>

export const LspCallHierarchyItem = z.looseObject({
  name: z.string(),
  kind: z.string(),
  detail: z.string().nullable(),
  path: z.string(),
  range,
  selection_range: range,
  language,
})
export type LspCallHierarchyItem = z.infer<typeof LspCallHierarchyItem>

export const LspCallHierarchyCall = z.strictObject({
  item: LspCallHierarchyItem,
  ranges: z.array(LspRange),
  direction: z.enum(['incoming', 'outgoing']),
  language,
})
export type LspCallHierarchyCall = z.infer<typeof LspCallHierarchyCall>

const documentation = z.string().nullable()
export const LspSignatureHelp = z.looseObject({
  path: z.string(),
  signatures: z.array(
    z.looseObject({
      label: z.string(),
      documentation,
      parameters: z.array(z.looseObject({ label: z.string(), documentation })),
      active_parameter: uint.nullable(),
    }),
  ),
  active_signature: uint.nullable(),
  active_parameter: uint.nullable(),
  language,
})
export type LspSignatureHelp = z.infer<typeof LspSignatureHelp>
