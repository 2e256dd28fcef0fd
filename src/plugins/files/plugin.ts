/** The built-in plugin with the tools that read, change and search files. */
import type { NativePlugin } from '../../actors/plugin/native/native.js'
import { editTool } from './edit.js'
import { createEngine } from './engine.js'
import { globTool } from './glob.js'
import { grepTool } from './grep.js'
import { createLocks } from './locks.js'
import { readTool } from './read.js'
import { createTargets } from './targets.js'
import { writeTool } from './write.js'

export interface FilesOptions {
  /** Absolute path of the ripgrep program; undefined = search without it. */
  readonly ripgrepPath: string | undefined
}

export function filesPlugin({ ripgrepPath }: FilesOptions): NativePlugin {
  return {
    id: 'dev.svc.files',
    name: 'Files',
    capability: { id: 'svc.tools.workspace', apiPrefix: '/v2/tools' },
    start(host) {
      const { effects } = host
      const targets = createTargets(host)
      const changes = { effects, targets, locks: createLocks() }
      const search = { files: effects.files, targets, engine: createEngine(ripgrepPath, effects) }
      return { tools: [readTool(host, targets), writeTool(changes), editTool(changes), grepTool(search), globTool(search)] }
    },
  }
}
