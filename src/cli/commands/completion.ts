import { command } from "./command.ts";

/**
 * The scripts ask the command itself, so they stay current. If it offers nothing, the shell offers files. Offers
 * keep their order: open tasks come first. Bash before 4.4 sorts them.
 */
const scripts = {
  bash: `_signalbox() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -o nosort -F _signalbox signalbox 2>/dev/null || complete -o default -F _signalbox signalbox
`,
  zsh: `#compdef signalbox
_signalbox() {
  local -a offers
  offers=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  offers=("\${(@)offers:#}")
  if (( \${#offers} )); then compadd -V signalbox -- "\${offers[@]}"; else _files; fi
}
compdef _signalbox signalbox
`,
  fish: `function __signalbox_offers
  set -l words (commandline --tokenize --current-process --cut-at-cursor)
  set -l word (commandline --current-token --cut-at-cursor)
  set -l offers (signalbox complete -- $words[2..] "$word" 2>/dev/null)
  if set -q offers[1]
    printf '%s\\n' $offers
  else
    __fish_complete_path "$word"
  end
end
complete --command signalbox --no-files --keep-order --arguments '(__signalbox_offers)'
`,
};

export const completion = command({
  isForRuns: true,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [
        {
          parse: (shell: string) => {
            if (shell === "bash" || shell === "zsh" || shell === "fish") return shell;
            throw new Error(`The shell "${shell}" is unknown. It can be bash, zsh or fish.`);
          },
          proposeCompletions: () => ["bash", "zsh", "fish"],
          placeholder: "SHELL",
          brief: "bash, zsh or fish",
        },
      ],
    },
  },
  docs: {
    brief: "Print a script that completes commands, flags and names",
    fullDescription: `Put one of these into the start-up file of your shell:
  eval "$(signalbox completion bash)"       # ~/.bashrc
  eval "$(signalbox completion zsh)"        # ~/.zshrc, after compinit
  signalbox completion fish | source        # ~/.config/fish/config.fish`,
  },
  func(_flags, shell): void {
    this.print(scripts[shell]);
  },
});
