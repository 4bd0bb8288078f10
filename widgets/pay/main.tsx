import { render } from 'preact';
import type { PayFacts } from './api.js';
import { App } from './app.js';

const main = document.querySelector('main')!;
const facts = JSON.parse(main.dataset['facts']!) as PayFacts;
main.replaceChildren();
render(<App facts={facts} />, main);
