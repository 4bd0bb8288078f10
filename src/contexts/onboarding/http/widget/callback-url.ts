import { leadsToApp } from '../../../access/contract.js';

/** What a merchant allows pages to lead back to (`merchant.embedding_set.v1`); empty: anything that may be at all. */
type Allowed = readonly string[];

/**
 * The redirect target in canonical form (contract.md 18.2): https, or the deep link of an app, and of those that the
 * merchant named, when it named any; in the sandbox also `http://localhost`. Null when it may not be followed.
 */
export function acceptCallbackUrl(text: string, allowed: Allowed = [], isSandbox = false): string | null {
  // The parser that browsers use: it drops the tabs and line ends that hide a scheme.
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, origin, username, password, href } = new URL(text);
  // A merchant who tries the sandbox has no certificate for his own machine.
  const isLocal = isSandbox && protocol === 'http:' && hostname === 'localhost';
  const isWeb = protocol === 'https:' || isLocal;
  if (!isWeb && !leadsToApp(protocol)) return null;
  // What stands before an @ looks like the host and is none.
  if (isWeb && (username !== '' || password !== '')) return null;
  return allowed.length === 0 || allowed.includes(isWeb ? origin : protocol) ? href : null;
}
