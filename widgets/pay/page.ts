import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Messages } from '../../src/contexts/exchange/pay/pay.dto.js';
import type { FormatOf } from '../format.js';
import type { PayFacts } from './api.js';

/** Returns a text of the page in the person's language, with its placeholders filled in. */
export type Format = FormatOf<Messages>;

/** The context of every screen. */
export interface Page {
  readonly facts: PayFacts;
  readonly format: Format;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  return useContext(PageContext)!;
}
