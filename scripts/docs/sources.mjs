// Documents name the sources that they describe, in their frontmatter. `npm run docs:sources` names each one whose sources
// changed since somebody last compared them; `npm run docs:sources -- --reviewed [page]...` records that they fit.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const RECORD = 'docs/sources.json';
const args = process.argv.slice(2);
const isReview = args.includes('--reviewed');
const chosen = args
  .filter((each) => !each.startsWith('--'))
  .map((each) => each.replace(/^docs\/|\.md$/g, ''));

const recorded = existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {};
const present = Object.fromEntries(
  readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name.slice(0, -3), hashesOf(readFileSync(`docs/${name}`, 'utf8'))])
    .filter(([, hashes]) => Object.keys(hashes).length > 0),
);

if (isReview) {
  const isChosen = (name) => chosen.length === 0 || chosen.includes(name);
  const kept = Object.entries(present).map(([name, hashes]) => [
    name,
    isChosen(name) ? hashes : (recorded[name] ?? {}),
  ]);
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
} else {
  const changed = [...new Set([...Object.keys(present), ...Object.keys(recorded)])].flatMap((name) => {
    const [now = {}, then = {}] = [present[name], recorded[name]];
    const files = Object.keys({ ...now, ...then }).filter((file) => now[file] !== then[file]);
    return files.length === 0 ? [] : [`docs/${name}.md: ${files.join(', ')}`];
  });
  if (changed.length > 0) {
    console.error(`These documents name sources that changed:\n\n${changed.join('\n')}\n`);
    console.error('Compare them, correct the text, then run: npm run docs:sources -- --reviewed [page]...');
    process.exitCode = 1;
  }
}

/** Hashes of the sources that a document names. */
function hashesOf(markdown) {
  const [, frontmatter = ''] = /^---\n([\s\S]*?)\n---\n/.exec(markdown) ?? [];
  const files = [...frontmatter.matchAll(/^ {2}- (\S+)$/gm)].map(([, file]) => file);
  return Object.fromEntries(files.map((file) => [file, hashOf(file)]));
}

/** Comments and line breaks change nothing that a document describes. */
function hashOf(file) {
  if (!existsSync(file)) return 'missing';
  const code = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return createHash('sha256').update(code.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 12);
}
