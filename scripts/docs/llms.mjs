import { GUIDES } from '../../docs/.vitepress/sidebar.mjs';

/** Names of pages in the order of the sidebar. */
const ORDER = ['index', ...GUIDES.flatMap(({ items }) => items.map(({ link }) => link.slice(1)))];

/** `llms.txt` (llmstxt.org): every page with its title and first sentence, as links to Markdown. */
export function llmsText(pages, base) {
  const line = ({ name, markdown }) => {
    const about = aboutOf(markdown);
    return `- [${titleOf(markdown)}](${base}${name}.md)${about && `: ${about}`}`;
  };
  const section = (title, listed) => `## ${title}\n\n${listed.map(line).join('\n')}`;
  const below = (folder) => pages.filter(({ name }) => name.startsWith(folder));
  const guides = pages.filter(({ name }) => !/^(reference|adr)\//.test(name));
  const place = ({ name }) => ORDER.indexOf(name);
  const unplaced = guides.find((page) => place(page) === -1);
  if (unplaced !== undefined) throw new Error(`${unplaced.name} has no place in docs/.vitepress/sidebar.mjs`);
  return `# disburse

> Users, USDC payouts verified on the chain, signed webhooks, and an exchange: how to integrate, operate and audit the service. The OpenAPI document is at /openapi.json.

${section(
  'Guides',
  guides.toSorted((a, b) => place(a) - place(b)),
)}

${section('API reference', below('reference/'))}

${section('Optional', below('adr/'))}
`;
}

const titleOf = (markdown) => /^# (.+)$/m.exec(markdown)[1];

/** What an operation is called with; the first sentence of another page. */
function aboutOf(markdown) {
  const [call, paragraph = ''] = [/^# .+\n+```http\n(.+)\n```/, /^# .+\n+(?![|#<`])((?:.+\n)+)/].map(
    (pattern) => pattern.exec(markdown)?.[1],
  );
  return (
    call ??
    paragraph
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('\n', ' ')
      .trim()
      .split(/(?<=\.) /)[0]
  );
}
