/** The built-in plugin with the tools that read, change and search files. */
import type { NativePlugin } from '../../ports/plugin.js'
import { createPause, createSlices } from '../../kernel/pause.js'
import { applyPatchTool } from './apply-patch.js'
import { editTool } from './edit.js'
import { createEngine } from './engine.js'
import { createFormatting } from './format/format.js'
import { formatterOperations } from './format/formatter-operations.js'
import { globTool } from './glob.js'
import { grepTool } from './grep.js'
import { createLocks } from './locks.js'
import { moveChatTool } from './move-chat.js'
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
      const pause = createPause()
      const slices = () => createSlices(() => effects.clock.monotonic(), pause)
      const changes = { effects, states: host.fileStates, targets, locks: createLocks(), pause, formatting: createFormatting(host) }
      const search = { files: effects.files, targets, engine: createEngine(ripgrepPath, effects), slices }
      return {
        operations: formatterOperations(host),
        tools: [
          readTool({ effects, instructions: host.instructions, slices }, targets),
          writeTool(changes),
          editTool(changes),
          applyPatchTool(changes),
          moveChatTool(host, targets),
          grepTool(search),
          globTool(search),
        ],
      }
    },
  }
}
