/** What the demo's agents do in the workflow `default`. Each thinks long enough for a person to follow. */
export const demoScript = `
roles:
  worker:
    - when: { task: { branch: menu } }
      steps:
        - think: { time: 800ms, about: Planning the menu }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: one file with what we serve.
              TOUCHING: menu.md
        - cli: [task, update, --status, working]
        - think: { time: 900ms, about: Writing menu.md }
        - write: { file: menu.md, text: "# Menu\\n\\n- espresso\\n- flat white\\n- filter coffee\\n" }
        - commit: Write the menu
        - section: { heading: "## Handoff", text: "DONE: menu.md lists what we serve." }
        - usage: { input: 14200, output: 1900, cached: 9800, cost: 0.04 }
        - cli: [task, update, --status, agent-review]
        - say: The menu is handed over.

    - when: { task: { branch: prices }, prompt: Review failed }
      steps:
        - think: { time: 700ms, about: Adding what the review asks for }
        - append: { file: prices.md, text: "- flat white 3.40\\n" }
        - commit: Add the missing price
        - section: { heading: "## Handoff", text: "DONE: the flat white has its price." }
        - usage: { input: 9100, output: 700, cached: 7600, cost: 0.02 }
        - cli: [task, update, --status, agent-review]
        - say: The review's point is mended.
    - when: { task: { branch: prices } }
      steps:
        - think: { time: 600ms, about: Planning the prices }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: a price for everything that we serve.
              TOUCHING: prices.md
        - cli: [task, update, --status, working]
        - think: { time: 600ms, about: Writing prices.md }
        - write: { file: prices.md, text: "# Prices\\n\\n- espresso 2.20\\n- filter coffee 2.80\\n" }
        - commit: Put prices on the list
        - section: { heading: "## Handoff", text: "DONE: prices.md has the prices." }
        - usage: { input: 12800, output: 1500, cached: 8100, cost: 0.03 }
        - cli: [task, update, --status, agent-review]
        - say: The prices are handed over.

    - when: { task: { branch: hours }, prompt: The person has answered }
      steps:
        - think: { time: 600ms, about: Planning with the answer }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: a table of the week, with a short Sunday.
              TOUCHING: hours.md
        - cli: [task, update, --status, working]
        - think: { time: 700ms, about: Writing hours.md }
        - write: { file: hours.md, text: "# Hours\\n\\n- Monday to Saturday 8 to 18\\n- Sunday 9 to 12\\n" }
        - commit: Say when we are open
        - section: { heading: "## Handoff", text: "DONE: hours.md has the week, with the Sunday as answered." }
        - usage: { input: 11600, output: 1300, cached: 7900, cost: 0.03 }
        - cli: [task, update, --status, agent-review]
        - say: The hours are handed over.
    - when: { task: { branch: hours } }
      steps:
        - think: { time: 600ms, about: Reading the request }
        - section: { heading: "## Questions", text: "Are we open on Sundays, and from when to when?" }
        - usage: { input: 6400, output: 300, cached: 2000, cost: 0.01 }
        - cli: [task, update, --status, clarification]
        - say: Are we open on Sundays, and from when to when?

    - when: { task: { branch: beans }, prompt: Your session ended early }
      steps:
        - think: { time: 700ms, about: Finishing what the killed agent began }
        - append: { file: beans.md, text: "- Kenya, light\\n" }
        - commit: List the beans
        - section: { heading: "## Handoff", text: "DONE: beans.md is whole; its first half was there already." }
        - usage: { input: 13100, output: 900, cached: 10400, cost: 0.03 }
        - cli: [task, update, --status, agent-review]
        - say: The beans are handed over.
    - when: { task: { branch: beans } }
      steps:
        - think: { time: 700ms, about: Planning the beans }
        - section:
            heading: "## Plan"
            text: |
              APPROACH: one line for each bean.
              TOUCHING: beans.md
        - write: { file: beans.md, text: "# Beans\\n\\n- Brazil, dark\\n" }
        - usage: { input: 7300, output: 600, cached: 2000, cost: 0.02 }
        - think: { time: 600ms, about: Writing beans.md }
        - crash: SIGKILL

  reviewer:
    - when: { task: { branch: prices, review_round: "1" } }
      steps:
        - think: { time: 700ms, about: Reading the change }
        - section: { heading: "## Review", text: "Verdict: FAIL\\n\\nThe flat white has no price." }
        - usage: { input: 8200, output: 400, cached: 5100, cost: 0.02 }
        - cli: [task, update, --status, working]
    - steps:
        - think: { time: 700ms, about: Reading the change }
        - section: { heading: "## Review", text: "Verdict: PASS\\n\\nIt is what was asked for." }
        - usage: { input: 7900, output: 300, cached: 5000, cost: 0.02 }
        - cli: [task, update, --status, reviewing]
`;
