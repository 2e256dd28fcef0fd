/** Remembers which files tools changed in each session, and tells the model on request. */
import type { Plugin, PluginEvent } from './svc-plugin.js'

/** Sessions remembered; the one that was quiet longest is forgotten first. */
const SESSIONS = 100
const FILES = 1000

export function createChangelog(): Plugin {
  const changes = new Map<string, Map<string, string>>()

  function record({ properties }: PluginEvent): void {
    const change = changeIn(properties)
    if (change === undefined) return
    const files = changes.get(change.session) ?? new Map<string, string>()
    changes.delete(change.session)
    changes.set(change.session, files)
    if (files.size < FILES) files.set(change.file, change.tool)
    for (const oldest of changes.keys()) {
      if (changes.size <= SESSIONS) break
      changes.delete(oldest)
    }
  }

  return {
    name: 'Changelog',
    version: '1.0.0',
    events: { namespaces: ['message.part.'], handler: record },
    tools: [
      {
        id: 'changed_files',
        description: 'Lists the files that were written or edited in this session so far. Use it to summarise what was done.',
        parameters: { type: 'object', properties: {} },
        execute(_input, { sessionId }) {
          const files = [...(changes.get(sessionId ?? '') ?? [])].sort()
          const lines = files.map(([file, tool]) => `${file} (${tool})`)
          return {
            title: `${files.length} changed files`,
            output: lines.length === 0 ? 'No file was changed in this session yet.' : lines.join('\n'),
            metadata: { files: files.map(([file]) => file) },
          }
        },
      },
    ],
  }
}

/** A finished call of a tool that writes one file. */
function changeIn(properties: unknown): { session: string; file: string; tool: string } | undefined {
  const part = field(properties, 'part')
  const tool = field(part, 'tool')
  const session = field(properties, 'sessionID')
  const state = field(part, 'state')
  const file = field(field(state, 'input'), 'filePath')
  const isChange = field(part, 'type') === 'tool' && field(state, 'status') === 'completed' && (tool === 'write' || tool === 'edit')
  return isChange && typeof session === 'string' && typeof file === 'string' ? { session, file, tool } : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
