/** The table of protected files: `docs/security.md` lists exactly these. */

export type Reasoned = readonly [pattern: string, reason: string]

const CONFIGURATION = 'svc configuration'
const VERSION_CONTROL = 'version-control data'
const MAKES_REPOSITORY = 'a file that makes a directory a repository'
const HOOKS = 'version-control hooks'
const EDITOR = 'a file that editors run by themselves'
const AGENT = 'a file that names programs for other agents'

/**
 * Below any directory: a name, with `*` for any part of it; with `/**` also everything below. Written in capitals, its case counts.
 */
export const IN_WORKSPACES: readonly Reasoned[] = [
  ...all(CONFIGURATION, 'svc.json svc.jsonc .svc/**'),
  ['svc-plugin.json', 'a plugin manifest'],
  ...all(VERSION_CONTROL, '.git/** .gitconfig .hg/** .jj/**'),
  ...all(MAKES_REPOSITORY, 'HEAD commondir'),
  ...all(HOOKS, '.husky/** .githooks/** .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml .lefthook/**'),
  ['.envrc', 'a file that shells run by themselves'],
  ...all(EDITOR, '.vscode/tasks.json .vscode/launch.json .vscode/settings.json *.code-workspace .idea/** .run/** .zed/tasks.json'),
  ...all(EDITOR, '.zed/settings.json .exrc .nvim.lua .dir-locals.el .devcontainer/** .devcontainer.json'),
  ...all(AGENT, '.mcp.json .vscode/mcp.json .cursor/mcp.json .claude/settings.json .claude/settings.local.json'),
]

/** Relative to the home directory, each with everything below it. */
export const IN_HOME =
  `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc
  .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsessionrc .pam_environment .netrc .npmrc .yarnrc .pypirc .gitconfig .git-credentials
  .vimrc .tmux.conf .config/git .config/fish .config/environment.d .config/systemd .config/autostart .config/gh .config/nvim
  .docker .ssh .gnupg .aws .azure .config/gcloud .kube .svc Library/LaunchAgents`.split(/\s+/)

/** Each with everything below it. */
export const IN_SYSTEM =
  `/etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/environment /etc/zsh /etc/zshrc /etc/zshenv /etc/zprofile
  /etc/fish /etc/ssh /etc/sudoers /etc/sudoers.d /etc/cron.d /etc/crontab /etc/cron.daily /etc/cron.hourly /var/spool/cron /etc/systemd
  /etc/gitconfig /etc/passwd /etc/shadow`.split(/\s+/)

function all(reason: string, patterns: string): Reasoned[] {
  return patterns.split(' ').map((pattern): Reasoned => [pattern, reason])
}
