// Holds threat-model G5.
import { describe, expect, it } from 'vitest'
import { widerDirectory } from '../../../src/machines/permission/wider-directory.js'
import { widerCommand } from '../../../src/plugins/shell/programs/wider-commands.js'

describe('what is offered to remember beside a command', () => {
  it.each([
    ['git status', 'git status *'],
    ['git status -s', 'git status *'],
    ['git stash list', 'git stash list *'],
    ['npm test -- --watch', 'npm test *'],
    ['npm run build', 'npm run build *'],
    ['pnpm run test:unit --silent', 'pnpm run test:unit *'],
    ['cargo test', 'cargo test *'],
    ['go mod tidy', 'go mod tidy *'],
    ['docker compose ps', 'docker compose ps *'],
    ['kubectl get pods', 'kubectl get *'],
    ['gh pr view 7', 'gh pr view *'],
    ['pip install x', 'pip install *'],
    ['ls', 'ls *'],
    ['grep -r x .', 'grep *'],
  ])('keeps the subcommand of %s', (command, wider) => {
    expect(widerCommand(command)).toBe(wider)
  })

  it.each([
    'git',
    'git -C elsewhere status',
    'git reset --hard',
    'git push',
    'git push origin main',
    'git checkout main',
    'git switch main',
    'git branch next',
    'git stash drop',
    'git worktree remove x',
    'npm',
    'npm run',
    'npm run -w x',
    'npm exec x',
    'npx x',
    'docker run x',
    'docker compose up',
    'kubectl exec x',
    'gh api x',
    'go run .',
    'python x.py',
    'node x.js',
    'sh x.sh',
    'sudo ls',
    'env x=1 ls',
    'xargs ls',
    'find . -name x',
    'sed -n 1p x',
    'make test',
    './ls',
    'constructor x',
    'npm __proto__ x',
    '',
  ])('is nothing for %j', (command) => {
    expect(widerCommand(command)).toBeUndefined()
  })
})

describe('what is offered to remember beside a directory', () => {
  it.each([
    ['/home/ada/other/*', '/home/ada/other/**'],
    ['/home/ada/*', undefined],
    ['/etc/*', undefined],
    ['/*', undefined],
    ['/home/ada/a*b/*', undefined],
    ['/home/ada/other', undefined],
  ])('%s: %s', (pattern, wider) => {
    expect(widerDirectory(pattern)).toBe(wider)
  })
})
