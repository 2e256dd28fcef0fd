/** Entry of the program: reads the arguments and loads only the command that was asked for. */
import { readArguments } from './arguments.js'
import { keepCompiledCode } from './compile-cache.js'
import { failureText } from './failure.js'
import { stayLean } from '../platform/node/heap.js'
import { VERSION } from '../server/version.js'
import { exitCodeOf } from './line/wrong-use.js'
import { endWithReader, writeError, writeOut } from './terminal/output.js'

/** Exit codes: 0 done, 1 failed for a reason that is printed, 2 the command line was not understood; those of a run are in its help. */
async function main(argv: readonly string[]): Promise<number> {
  const command = readArguments(argv)
  switch (command.name) {
    case 'version':
      writeOut(`${VERSION}\n`)
      return 0
    case 'help':
      writeOut((await import('./help/help.js')).helpText(command.topic))
      return 0
    case 'usage':
      writeError(`svc: ${command.problem} (${['svc help', command.topic].join(' ').trim()})\n`)
      return 2
    case 'openapi':
      return (await import('./openapi.js')).printOpenApi()
    case 'completion':
      writeOut((await import('./help/completion.js')).completion(command.shell))
      return 0
    case 'values':
      return (await import('./completion-values.js')).printValues(command.of)
    case 'man':
      writeOut((await import('./help/man.js')).manualPage(VERSION))
      return 0
    case 'serve':
      keepCompiledCode()
      return (await import('./commands/serve/serve.js')).serve(command.options)
    case 'run':
      keepCompiledCode()
      return (await import('./commands/run/run.js')).run(command.options)
    case 'chat':
      keepCompiledCode()
      return (await import('./commands/chat/chat.js')).chat(command.options)
    case 'screen':
      stayLean()
      keepCompiledCode()
      return (await import('./screen/screen.js')).screen(command.options)
    case 'acp':
      keepCompiledCode()
      return (await import('./commands/acp/acp.js')).acp(command.options)
    case 'mcp':
      return (await import('./commands/mcp/mcp.js')).mcp(command.options)
    case 'lsp':
      return (await import('./commands/lsp/lsp.js')).lsp(command.options)
    case 'formatter':
      return (await import('./commands/formatter/formatter.js')).formatter(command.options)
    case 'models':
      return (await import('./commands/models/models.js')).listModels(command.options)
    case 'providers':
      return (await import('./commands/models/models.js')).listProviders(command.options)
    case 'auth':
      return (await import('./commands/auth/auth.js')).auth(command.options)
    case 'token':
      return (await import('./commands/token/token.js')).token(command.options)
    case 'plugin':
      return (await import('./commands/plugin/plugin.js')).plugin(command.options)
    case 'session':
      keepCompiledCode()
      return (await import('./commands/session/session.js')).session(command.options)
    case 'permission':
      return (await import('./commands/permission/permission.js')).permission(command.options)
    case 'request':
      return (await import('./commands/request/request.js')).request(command.options)
    case 'config':
      return (await import('./commands/config/config.js')).config(command.options)
    case 'workflow':
      return (await import('./commands/workflow/workflow.js')).workflow(command.options)
    case 'inspect':
      return (await import('./commands/inspect/inspect.js')).inspect(command.options)
    case 'logs':
      return (await import('./commands/logs/logs.js')).logs(command.options)
    case 'audit':
      return (await import('./commands/audit/audit.js')).audit(command.options)
    case 'spending':
      return (await import('./commands/usage/usage.js')).usage(command.options)
    case 'cleanup':
      return (await import('./commands/cleanup/cleanup.js')).cleanup(command.options)
    case 'backup':
      return (await import('./commands/backup/backup.js')).backup(command.options)
    case 'restore':
      return (await import('./commands/backup/backup.js')).restore(command.options)
    case 'upgrade':
      return (await import('./commands/upgrade/upgrade.js')).upgrade(command.options)
    case 'resource':
      return (await import('./commands/resource/resource.js')).showResources(command.options)
    case 'doctor':
      return (await import('./commands/doctor/doctor.js')).doctor(command.options)
  }
}

endWithReader()

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    writeError(`svc: ${failureText(error)}\n`)
    process.exitCode = exitCodeOf(error)
  },
)
