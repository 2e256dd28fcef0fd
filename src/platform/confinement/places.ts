/** What commands in the sandbox see besides their workspace, and what they never see. */

/** Parts of the system, read-only. `/etc` without what only the administrator reads. */
export const SYSTEM = `/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix /gnu /snap`.split(' ')

/** Empty at the start of each command and gone with it, or made by the kernel for it alone. */
export const PRIVATE = '/tmp /var/tmp /proc /dev'.split(' ')

/** Below the home directory, read-only: what programs need to be found, to build without the network, and to know who commits. */
export const TOOLS =
  `.cargo .rustup .nvm .volta .fnm .local/share/fnm .asdf .local/share/mise .pyenv .rbenv .rvm .sdkman .jenv .goenv .deno .bun
  .local/bin .local/lib .local/share/uv .local/share/pipx .local/share/pnpm go/bin go/pkg/mod .ghcup .elan .opam .dotnet .m2/repository
  .gitconfig .config/git`.split(/\s+/)

/** Below the home directory: credentials, what browsers and agents keep, and histories. */
const SECRETS =
  `.ssh .gnupg .aws .azure .config/gcloud .kube .docker .netrc .git-credentials .config/git/credentials .npmrc .yarnrc .yarnrc.yml
  .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
  .composer/auth.json .config/gh .config/glab-cli .config/hub .config/op .config/1Password .config/rclone .config/sops .config/doctl .config/heroku
  .password-store .local/share/keyrings .local/share/kwalletd .vault-token .terraform.d .terraformrc .pgpass .my.cnf .s3cfg .boto .databrickscfg
  .huggingface .cache/huggingface/token .kaggle .fly .oci .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware
  .config/microsoft-edge .config/vivaldi .config/opera .config/Slack .config/discord .codex .claude .claude.json .gemini .config/svc .svc
  .bash_history .zsh_history .local/share/fish/fish_history .python_history .node_repl_history .psql_history .lesshst
  .Xauthority .ICEauthority`.split(/\s+/)

/** Of the system. A server that runs as root could read them. */
const SYSTEM_SECRETS =
  `/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssh /etc/ssl/private /etc/wireguard
  /etc/NetworkManager/system-connections /etc/krb5.keytab /etc/kubernetes /etc/rancher /etc/letsencrypt /run /var/run`.split(/\s+/)

/** Variables that name a file or directory of svc. */
const MOVED = ['SVC_AGENT_CONFIG', 'SVC_AGENT_CONFIG_DIR', 'SVC_AGENT_AUTH_CONFIG', 'SVC_AGENT_AUTH_PATH']

/** Variables that lead to a socket, a credential or a directory outside. */
export const UNSET =
  `SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO GNUPGHOME DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY XAUTHORITY
  DOCKER_HOST CONTAINER_HOST XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME`.split(/\s+/)

export interface HiddenPlaces {
  readonly paths: { readonly home: string; readonly config: string; readonly state: string; readonly cache: string }
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Absolute paths that no command in the sandbox sees, with everything below them. */
export function hiddenPlaces({ paths, env }: HiddenPlaces): readonly string[] {
  const moved = MOVED.flatMap((name) => (env[name]?.startsWith('/') === true ? [env[name].replace(/(?<=.)\/+$/, '')] : []))
  return [paths.config, paths.state, paths.cache, ...moved, ...SECRETS.map((name) => `${paths.home}/${name}`), ...SYSTEM_SECRETS]
}
