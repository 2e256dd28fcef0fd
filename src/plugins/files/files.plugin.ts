/** The built-in plugin with the tools that read, change and search files. */
import type { NativePlugin } from '../../ports/plugin.js'
import { createPause, createSlices } from '../../kernel/pause.js'
import { applyPatchTool } from './change/apply-patch.js'
import { editTool } from './change/edit.js'
import { createEngine } from './search/engine.js'
import { createFormatting } from './format/format.js'
import { formatterOperations } from './format/formatter-operations.js'
import { globTool } from './search/glob.js'
import { grepTool } from './search/grep.js'
import { createLocks } from './change/locks.js'
import { moveChatTool } from './change/move-chat.js'
import { readTool } from './read.js'
import { createTargets } from './places/targets.js'
import { writeTool } from './change/write.js'

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
