import type { ComponentChildren } from 'preact';
import { usePage } from './page.js';

/** The frame of every screen: owner of the page, test mode, ways out. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { facts, format } = usePage();
  const { merchant, return_url: back } = facts;
  const { name, logo, help_url: help, terms_url: terms } = merchant;
  return (
    <>
      <p class="merchant">
        {logo !== null && <img src={logo} alt="" />}
        <span>{name}</span>
      </p>
      {facts.sandbox && (
        <p class="sandbox" role="note">
          <strong>{format('sandbox')}</strong> {format('sandboxText')}
        </p>
      )}
      {facts.notice !== null && (
        <p class="notice" role="note">
          {facts.notice}
        </p>
      )}
      {children}
      {(back ?? help ?? terms) !== null && (
        <p class="ways">
          {back !== null && (
            <a href={back} target="_top" rel="noreferrer">
              {format('back', { merchant: name })}
            </a>
          )}
          <OutsideLink href={help}>{format('help')}</OutsideLink>
          <OutsideLink href={terms}>{format('terms')}</OutsideLink>
        </p>
      )}
    </>
  );
}

function OutsideLink({ href, children }: { href: string | null; children: string }) {
  const { format } = usePage();
  return href === null ? null : (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
      <span class="unseen"> ({format('opensTab')})</span>
    </a>
  );
}
