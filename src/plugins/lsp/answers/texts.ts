/** Answers that are texts: hovers and signatures. */
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { LspHover, LspSignatureHelp } from '../../../protocol/lsp/lsp-records.js'
import { RawRange } from '../clients/diagnostics.js'
import { bounded, type Reading } from './reading.js'

const Marked = z.union([z.string(), z.looseObject({ language: z.string(), value: z.string() })])
const Markup = z.looseObject({ kind: z.string(), value: z.string() })
const Hover = z.looseObject({ contents: z.union([Markup, z.array(Marked), Marked]), range: RawRange.nullish() }).nullish()

/** Parts are joined by a blank line, code is fenced; nothing said is no hover. */
export async function hoversOf(answer: unknown, uri: string, reading: Reading): Promise<LspHover[]> {
  const hover = Hover.parse(answer)
  if (!hover) return []
  const { contents, range } = hover
  const markup = Markup.safeParse(contents)
  const parts = markup.success
    ? [markup.data.value]
    : z
        .array(Marked)
        .parse(Array.isArray(contents) ? contents : [contents])
        .map(fenced)
  const text = parts.filter((part) => part.trim() !== '').join('\n\n')
  if (text === '') return []
  return [
    {
      path: reading.pathOf(uri),
      contents: bounded(text),
      kind: markup.success ? markup.data.kind : 'markdown',
      range: range ? await reading.rangeOf(uri, range) : null,
      language: reading.language,
    },
  ]
}

function fenced(marked: z.infer<typeof Marked>): string {
  return typeof marked === 'string' ? marked : `\`\`\`${marked.language}\n${marked.value}\n\`\`\``
}

const Documentation = z.union([z.string(), Markup]).nullish()
const Help = z
  .looseObject({
    signatures: z.array(
      z.looseObject({
        label: z.string(),
        documentation: Documentation,
        parameters: z
          .array(z.looseObject({ label: z.union([z.string(), z.tuple([z.number(), z.number()])]), documentation: Documentation }))
          .nullish(),
        activeParameter: z.number().int().min(0).nullish(),
      }),
    ),
    activeSignature: z.number().int().min(0).nullish(),
    activeParameter: z.number().int().min(0).nullish(),
  })
  .nullish()

export function signaturesOf(answer: unknown, uri: string, reading: Reading): LspSignatureHelp[] {
  const help = Help.parse(answer)
  if (!help || help.signatures.length === 0) return []
  return [
    {
      path: reading.pathOf(uri),
      signatures: help.signatures.slice(0, LIMITS.lsp.symbols).map(({ label, documentation, parameters, activeParameter }) => ({
        label: bounded(label),
        documentation: textOf(documentation),
        parameters: (parameters ?? []).slice(0, LIMITS.lsp.symbols).map((each) => ({
          label: typeof each.label === 'string' ? each.label : label.slice(...each.label),
          documentation: textOf(each.documentation),
        })),
        active_parameter: activeParameter ?? null,
      })),
      active_signature: help.activeSignature ?? null,
      active_parameter: help.activeParameter ?? null,
      language: reading.language,
    },
  ]
}

function textOf(documentation: z.infer<typeof Documentation>): string | null {
  if (documentation === undefined || documentation === null) return null
  return bounded(typeof documentation === 'string' ? documentation : documentation.value)
}
