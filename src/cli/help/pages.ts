/** Every command, in the order help shows them. */
import { ACP } from '../commands/acp/acp-page.js'
import { AUDIT } from '../commands/audit/audit-page.js'
import { AUTH } from '../commands/auth/auth-pages.js'
import { BACKUP, RESTORE } from '../commands/backup/backup-pages.js'
import { CHAT } from '../commands/chat/chat-page.js'
import { CONFIG } from '../commands/config/config-pages.js'
import { CLEANUP } from '../commands/cleanup/cleanup-page.js'
import { DOCTOR } from '../commands/doctor/doctor-page.js'
import { FORMATTER } from '../commands/formatter/formatter-pages.js'
import { INSPECT } from '../commands/inspect/inspect-page.js'
import { LOGS } from '../commands/logs/logs-page.js'
import { LSP } from '../commands/lsp/lsp-pages.js'
import { MCP } from '../commands/mcp/mcp-page.js'
import { MODELS, PROVIDERS } from '../commands/models/models-pages.js'
import { PERMISSION } from '../commands/permission/permission-pages.js'
import { PLUGIN } from '../commands/plugin/plugin-pages.js'
import { REQUEST_PAGES } from '../commands/request/request-pages.js'
import { RUN } from '../commands/run/run-page.js'
import { SERVE } from '../commands/serve/serve-page.js'
import { SESSION } from '../commands/session/session-pages.js'
import { TOKEN } from '../commands/token/token-pages.js'
import { UPGRADE } from '../commands/upgrade/upgrade-page.js'
import { USAGE } from '../commands/usage/usage-page.js'
import { WORKFLOW } from '../commands/workflow/workflow-pages.js'
import { RESOURCES } from '../commands/resource/resource-pages.js'
import { type Group, JSON_OUT, type Page } from '../line/page.js'

export const OPENAPI = {
  name: 'openapi',
  summary: 'print the OpenAPI document',
  words: [],
  options: { json: { ...JSON_OUT, help: 'it is JSON anyway' } },
  examples: [['svc openapi > openapi.json', 'the OpenAPI 3.1 document of the HTTP API']],
} as const satisfies Page

export const COMPLETION = {
  name: 'completion',
  summary: 'print what makes a shell complete commands and options',
  words: [{ name: 'shell', needs: 'the name of a shell: bash, zsh or fish', choices: ['bash', 'zsh', 'fish'] }],
  options: {},
  examples: [
    ['source <(svc completion bash)', 'in ~/.bashrc'],
    ['svc completion zsh > "${fpath[1]}/_svc"', 'once; then a new shell'],
    ['svc completion fish > ~/.config/fish/completions/svc.fish', 'once'],
  ],
} as const satisfies Page

export const MAN = {
  name: 'man',
  summary: 'print the manual page',
  words: [],
  options: {},
  examples: [
    ['svc man | man -l -', 'reads it'],
    ['svc man > ~/.local/share/man/man1/svc.1', 'installs it'],
  ],
} as const satisfies Page

export const PAGES: readonly (Page | Group)[] = [
  SERVE,
  RUN,
  CHAT,
  ACP,
  SESSION,
  REQUEST_PAGES,
  PERMISSION,
  MODELS,
  PROVIDERS,
  AUTH,
  TOKEN,
  ...RESOURCES,
  MCP,
  LSP,
  FORMATTER,
  CONFIG,
  DOCTOR,
  LOGS,
  AUDIT,
  USAGE,
  CLEANUP,
  BACKUP,
  RESTORE,
  UPGRADE,
  INSPECT,
  PLUGIN,
  WORKFLOW,
  OPENAPI,
  COMPLETION,
  MAN,
]
