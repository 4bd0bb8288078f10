import { render } from 'preact';
import type { OnboardingFacts } from './api.js';
import { App } from './app.js';

const main = document.querySelector('main')!;
const facts = JSON.parse(main.dataset['facts']!) as OnboardingFacts;
document.documentElement.lang = facts.locale;
main.replaceChildren();
render(<App opened={facts} />, main);
