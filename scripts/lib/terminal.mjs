// What the commands print with; packages/cli prints with the same.
export * from '../../packages/cli/src/terminal.mjs';
