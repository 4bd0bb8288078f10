/** Schemes that run or read something instead of leading back to an app, and plain http (contract.md 18.2). */
const REFUSED = new Set([
  'javascript',
  'data',
  'vbscript',
  'file',
  'blob',
  'filesystem',
  'about',
  'view-source',
  'http',
  'ws',
  'wss',
  'ftp',
]);

/** The redirect target in canonical form, null when its scheme is not accepted: https and the deep links of apps are. */
export function acceptCallbackUrl(text: string): string | null {
  // The parser that browsers use: it drops the tabs and line ends that hide a scheme.
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return REFUSED.has(url.protocol.slice(0, -1)) ? null : url.href;
}
