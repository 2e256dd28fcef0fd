/** Answers that are places: definitions, references, highlights, diagnostics. */
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { LspDiagnostic, LspDocumentHighlight, LspInlayHint, LspLocation } from '../../../protocol/lsp/lsp-records.js'
import { type RawDiagnostic, RawRange } from '../clients/diagnostics.js'
import { bounded, type Reading } from './reading.js'

const Location = z.looseObject({ uri: z.string(), range: RawRange })
const Link = z.looseObject({ targetUri: z.string(), targetRange: RawRange, targetSelectionRange: RawRange })
const Locations = z.union([z.array(z.union([Location, Link])), Location, Link]).nullish()

/** Of a link, the name of its target. */
export async function locationsOf(answer: unknown, reading: Reading): Promise<LspLocation[]> {
  const said = Locations.parse(answer) ?? []
  const all = (Array.isArray(said) ? said : [said]).slice(0, LIMITS.lsp.places)
  return Promise.all(
    all.map(async (each) => {
      const link = Link.safeParse(each)
      const { uri, range } = link.success ? { uri: link.data.targetUri, range: link.data.targetSelectionRange } : Location.parse(each)
      return { path: reading.pathOf(uri), range: await reading.rangeOf(uri, range), language: reading.language }
    }),
  )
}

const Highlights = z.array(z.looseObject({ range: RawRange, kind: z.number().nullish() })).nullish()
const HIGHLIGHT_KINDS = [null, 'text', 'read', 'write'] as const

export async function highlightsOf(answer: unknown, uri: string, reading: Reading): Promise<LspDocumentHighlight[]> {
  const said = (Highlights.parse(answer) ?? []).slice(0, LIMITS.lsp.places)
  return Promise.all(
    said.map(async ({ range, kind }) => ({
      path: reading.pathOf(uri),
      range: await reading.rangeOf(uri, range),
      kind: HIGHLIGHT_KINDS[kind ?? 0] ?? null,
      language: reading.language,
    })),
  )
}

const SEVERITIES = ['unknown', 'error', 'warning', 'information', 'hint'] as const
const TAGS = [undefined, 'unnecessary', 'deprecated'] as const

export async function diagnosticsOf(items: readonly RawDiagnostic[], uri: string, reading: Reading): Promise<LspDiagnostic[]> {
  return Promise.all(
    items.map(async (item): Promise<LspDiagnostic> => {
      const related = (item.relatedInformation ?? []).slice(0, LIMITS.lsp.evidence)
      return {
        path: reading.pathOf(uri),
        range: await reading.rangeOf(uri, item.range),
        severity: SEVERITIES[item.severity ?? 0] ?? 'unknown',
        code: item.code === undefined || item.code === null ? null : String(item.code),
        code_description: item.codeDescription?.href ?? null,
        source: item.source ?? null,
        message: bounded(item.message),
        tags: (item.tags ?? []).flatMap((tag) => TAGS[tag] ?? []),
        related_information: await Promise.all(
          related.map(async ({ location, message }) => ({
            path: reading.pathOf(location.uri),
            range: await reading.rangeOf(location.uri, location.range),
            message: bounded(message),
          })),
        ),
        ...(item.data !== undefined && { data: item.data }),
        language: reading.language,
      }
    }),
  )
}

const Hints = z
  .array(
    z.looseObject({
      position: RawRange.shape.start,
      label: z.union([z.string(), z.array(z.looseObject({ value: z.string() }))]),
      kind: z.number().nullish(),
      paddingLeft: z.boolean().nullish(),
      paddingRight: z.boolean().nullish(),
    }),
  )
  .nullish()
const HINT_KINDS = [null, 'type', 'parameter'] as const

export async function hintsOf(answer: unknown, uri: string, reading: Reading): Promise<LspInlayHint[]> {
  const hints = await Promise.all(
    (Hints.parse(answer) ?? []).slice(0, LIMITS.lsp.places).map(async (hint): Promise<LspInlayHint[]> => {
      const place = await reading.bytesAt(uri, hint.position)
      if (place === undefined) return []
      return [
        {
          path: reading.pathOf(uri),
          line: place.line + 1,
          character: place.character + 1,
          label: bounded(typeof hint.label === 'string' ? hint.label : hint.label.map(({ value }) => value).join('')),
          kind: HINT_KINDS[hint.kind ?? 0] ?? null,
          padding_left: hint.paddingLeft === true,
          padding_right: hint.paddingRight === true,
          language: reading.language,
        },
      ]
    }),
  )
  return hints.flat()
}
