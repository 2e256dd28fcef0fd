/** The tools `artifact_read` and `artifact_search` (sessions-events §10.4): what was cut from an output, and what was uploaded for the session; and `media_make`. */
import * as z from 'zod'
import {
  defineTool,
  type NativeHost,
  type NativePlugin,
  type PermissionNeed,
  type ToolContribution,
  ToolError,
} from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'
import { linesOf } from './lines.js'
import { mediaTool } from './media.js'

const { lines: LINES, bytes: BYTES, line: LINE, part, found: FOUND, mostFound, query: QUERY, reference } = LIMITS.artifactTools

const artifact = z.string().min(1).max(reference).describe('Its address (artifact://…), its id, or the path an output names.')
const ReadInput = z.strictObject({
  artifact,
  offset: z.number().int().min(1).default(1).describe('First line, from 1.'),
  limit: z.number().int().min(1).max(LINES).default(LINES).describe('Lines at most.'),
})
const SearchInput = z.strictObject({
  artifact,
  query: z.string().min(1).max(QUERY).describe('Text that a line has, as it is written.'),
  limit: z.number().int().min(1).max(mostFound).default(FOUND).describe('Lines at most.'),
})

export function artifactsPlugin(): NativePlugin {
  return {
    id: 'dev.svc.artifacts',
    name: 'Artifacts',
    capability: { id: 'svc.tools.artifacts', apiPrefix: '/v2/tools' },
    requires: ['svc.artifacts'],
    start: (host) => ({ tools: [readTool(host), searchTool(host), mediaTool(host)] }),
  }
}

type Host = Pick<NativeHost, 'artifacts'>

function readTool(host: Host): ToolContribution {
  return defineTool<z.infer<typeof ReadInput>>({
    id: 'artifact_read',
    description: 'Reads lines of an artifact of this session: the whole of an output that was cut, or a file that was uploaded.',
    input: ReadInput,
    permission: 'artifact_read',
    needs: async (input) => needs('artifact_read', input.artifact),
    async invoke({ artifact: name, offset, limit }, { sessionId, signal }) {
      const found = await open(host, sessionId, name)
      const shown: string[] = []
      let size = 0
      let next: number | undefined
      let isRest = false
      for await (const each of linesOf(found.bytes, LINE, signal)) {
        if (each === undefined) throw binary(found)
        const isBeginning = !isRest
        isRest = each.isPart
        if (each.number < offset || !isBeginning) continue
        const text = `${each.number}: ${each.text.slice(0, LINE)}${each.isPart || each.text.length > LINE ? '...' : ''}`
        size += new TextEncoder().encode(text).length + 1
        if (shown.length === limit || size > BYTES) {
          next = each.number
          break
        }
        shown.push(text)
      }
      if (shown.length === 0 && offset > 1) throw new ToolError(`${found.id} has fewer than ${offset} lines.`)
      const end = next === undefined ? '(End of the artifact.)' : `(It goes on: read from offset ${next}.)`
      const metadata = {
        ...shownAs(found),
        offset,
        limit,
        lines: shown.length,
        truncated: next !== undefined,
        ...(next !== undefined && { next }),
      }
      return { title: found.title, output: [...shown, '', end].join('\n'), metadata }
    },
  })
}

function searchTool(host: Host): ToolContribution {
  return defineTool<z.infer<typeof SearchInput>>({
    id: 'artifact_search',
    description: 'Finds lines with a text in an artifact of this session, with their numbers for artifact_read.',
    input: SearchInput,
    permission: 'artifact_search',
    needs: async (input) => needs('artifact_search', input.artifact),
    async invoke({ artifact: name, query, limit }, { sessionId, signal }) {
      const found = await open(host, sessionId, name)
      const shown: string[] = []
      let size = 0
      let truncated = false
      for await (const each of linesOf(found.bytes, part, signal)) {
        if (each === undefined) throw binary(found)
        const at = each.text.indexOf(query)
        if (at === -1) continue
        const start = Math.max(0, at - LINE / 2)
        const text = `${each.number}: ${start > 0 ? '...' : ''}${each.text.slice(start, start + LINE)}${each.text.length > start + LINE ? '...' : ''}`
        size += new TextEncoder().encode(text).length + 1
        truncated = shown.length === limit || size > BYTES
        if (truncated) break
        shown.push(text)
      }
      const head = shown.length === 0 ? 'No line has it.' : `${shown.length} lines${truncated ? ', and there are more' : ''}:`
      return { title: query, output: [head, ...shown].join('\n'), metadata: { ...shownAs(found), query, matches: shown.length, truncated } }
    },
  })
}

function needs(permission: string, name: string): readonly PermissionNeed[] {
  return [{ permission, patterns: [name], title: `Look into ${name}` }]
}

async function open({ artifacts }: Host, sessionId: string, name: string) {
  const found = await artifacts.open(sessionId, name)
  if (found === undefined) throw new ToolError(`This session has no artifact "${name}". Outputs are kept for seven days.`)
  return found
}

type Found = Awaited<ReturnType<typeof open>>

const shownAs = ({ id, size, mediaType }: Found) => ({ artifact: id, byteCount: size, mediaType })

function binary({ id, mediaType }: Found): ToolError {
  return new ToolError(`${id} (${mediaType}) is binary, and only text is shown.`)
}
