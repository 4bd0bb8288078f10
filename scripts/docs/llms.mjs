/** `llms.txt` (llmstxt.org): every page with its title and first sentence, as links to Markdown. */
export function llmsText(pages, base) {
  const line = ({ name, markdown }) => {
    const about = aboutOf(markdown);
    return `- [${titleOf(markdown)}](${base}${name}.md)${about && `: ${about}`}`;
  };
  const section = (title, belongs) => `## ${title}\n\n${pages.filter(belongs).map(line).join('\n')}`;
  const isReference = ({ name }) => name.startsWith('reference/');
  const isDecision = ({ name }) => name.startsWith('adr/');
  return `# disburse

> Users, USDC payouts verified on the chain, signed webhooks, and an exchange: how to integrate, operate and audit the service. The OpenAPI document is at /openapi.json.

${section('Guides', (page) => !isReference(page) && !isDecision(page))}

${section('API reference', isReference)}

${section('Optional', isDecision)}
`;
}

const titleOf = (markdown) => /^# (.+)$/m.exec(markdown)[1];

function aboutOf(markdown) {
  const [, paragraph = ''] =
    /^# .+\n+(?:```http\n(.+)\n```|(?![|#<`])(.+))/m.exec(markdown)?.filter(Boolean) ?? [];
  return paragraph.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').split(/(?<=\.) /)[0];
}
