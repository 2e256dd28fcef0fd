/** The built-in plugin with the tool that runs commands. */
import type { NativePlugin } from '../../actors/plugin/native/native.js'
import { bashTool } from './run/bash.js'
import { createShellEnvironment, type Variables } from './run/environment.js'
import { createShellScanner } from './judge/scan.js'

export interface ShellOptions {
  /** Absolute path of `web-tree-sitter.wasm`; read when the first command is judged. */
  readonly coreWasm: string
  /** Absolute path of `tree-sitter-bash.wasm`. */
  readonly grammarWasm: string
  /** Reduces variables to those the programs of this installation may have. */
  readonly allowVariables: (variables: Variables) => Variables
}

const WASM_BYTES = 8 * 1024 * 1024

export function shellPlugin({ coreWasm, grammarWasm, allowVariables }: ShellOptions): NativePlugin {
  return {
    id: 'dev.svc.shell',
    name: 'Shell',
    capability: { id: 'svc.tools.shell', apiPrefix: '/v2/tools' },
    start(host) {
      const { effects } = host
      const load = (path: string) => effects.files.read(path, WASM_BYTES)
      const grammar = { core: () => load(coreWasm), bash: () => load(grammarWasm) }
      const scanner = createShellScanner(grammar, () => effects.clock.monotonic())
      return { tools: [bashTool({ host, scanner, environment: createShellEnvironment({ effects, allow: allowVariables }) })] }
    },
  }
}
