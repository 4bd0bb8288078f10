import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Words } from '../../src/contexts/exchange/words/en.js';
import type { SayOf } from '../say.js';
import type { PayFacts } from './api.js';

/** A text of the page in the person's language. */
export type Say = SayOf<Words>;

/** What every screen has at hand. */
export interface Page {
  readonly facts: PayFacts;
  readonly say: Say;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  return useContext(PageContext)!;
}
