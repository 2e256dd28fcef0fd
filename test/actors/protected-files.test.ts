import { describe, expect, it } from 'vitest'
import { createProtectedFiles } from '../../src/actors/protected-files.js'

const files = createProtectedFiles({
  configDirectory: '/home/u/.config/svc',
  stateDirectory: '/home/u/.local/state/svc',
  home: '/home/u',
  env: { SVC_AGENT_CONFIG: '/srv/team.json', SVC_AGENT_CONFIG_DIR: '/srv/more/', SVC_AGENT_AUTH_PATH: 'relative' },
})

describe('protected files', () => {
  it.each([
    ['/home/u/.config/svc/svc.json', 'svc configuration'],
    ['/home/u/.config/svc', 'svc configuration'],
    ['/srv/team.json', 'svc configuration'],
    ['/srv/more/agent/x.md', 'svc configuration'],
    ['/home/u/.local/state/svc/agent.sqlite3', 'the state of svc'],
    ['/home/u/.bashrc', 'a start-up or credential file'],
    ['/home/u/.config/fish/conf.d/x.fish', 'a start-up or credential file'],
    ['/home/u/.ssh/authorized_keys', 'a start-up or credential file'],
    ['/home/u/.gitconfig', 'a start-up or credential file'],
    ['/etc/profile.d/x.sh', 'a start-up or credential file'],
    ['/w/svc.json', 'svc configuration'],
    ['/w/sub/svc.jsonc', 'svc configuration'],
    ['/w/.svc/agent/x.md', 'svc configuration'],
    ['/w/.svc/workflows/x.md', 'svc configuration'],
    ['/w/plugin/svc-plugin.json', 'a plugin manifest'],
    ['/w/.git/hooks/pre-commit', 'version-control settings'],
    ['/w/.git/config', 'version-control settings'],
    ['/w/.git/modules/a/config', 'version-control settings'],
    ['/w/.git', 'version-control settings'],
    ['/w/.husky/pre-commit', 'version-control hooks'],
  ])('protects %s', (path, reason) => {
    expect(files.reason(path)).toBe(reason)
  })

  it.each(['/w/.GIT/Hooks/pre-commit', '/w/SVC.JSON', '/home/u/.BashRC', '/Home/U/.config/SVC/svc.json'])(
    'protects %s, because case may not count',
    (path) => {
      expect(files.reason(path)).toBeDefined()
    },
  )

  it.each(['/', '/home', '/home/u', '/home/u/.config', '/home/u/.local/state'])('protects %s, because it holds protected files', (path) => {
    expect(files.reason(path)).toMatch(/^a directory that holds /)
  })

  it.each([
    '/w/src/index.ts',
    '/w/svc.json.md',
    '/w/my-svc.json',
    '/w/.git/COMMIT_EDITMSG',
    '/w/.github/workflows/ci.yml',
    '/home/u/project/readme.md',
    '/home/u/.bashrc-notes',
    '/w/.svc/plans/today.md',
    '/home/u/.local/state/svc/plans/today.md',
    '/home/u/.local/state/svc/tool-output/tool_1',
  ])('leaves %s alone', (path) => {
    expect(files.reason(path)).toBeUndefined()
  })

  it('protects what is not a plan among the plans', () => {
    expect(files.reason('/w/.svc/plans/svc.json')).toBe('svc configuration')
    expect(files.reason('/w/.svc/plans/deep/x.md')).toBe('svc configuration')
  })
})
