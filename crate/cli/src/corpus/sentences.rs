//! Seeded English sentences for a corpus: templates filled from word lists, both written for this project, and lists of dictionary words for phones and
//! pairs of phones that are rare in everyday words.

use rand::{Rng, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

use ownvoice::text::lexicon::Lexicon;

/// Slots are in braces; `{word}` is any dictionary word of moderate length.
const TEMPLATES: &[&str] = &[
    "The {adj} {noun} {did} the {noun} {where}.",
    "{name} {did} a {adj} {noun} {where}.",
    "{name} and {name} {did} the {noun} {when}.",
    "{when_first}, the {person} {did} a {adj} {noun}.",
    "{when_first}, {name} {went} {where} with a {noun}.",
    "Did {name} ever {do} the {adj} {noun}?",
    "Why would the {person} {do} a {noun} {where}?",
    "Who {did} the {adj} {noun} {when}?",
    "Where did you {do} the {noun}, {name}?",
    "Could you {do} this {noun} before {day}?",
    "Is there a {adj} {noun} {where}, or only a {noun}?",
    "What a {adj} {noun} that was!",
    "Please {do} the {noun}, {name}!",
    "How {adj} the {noun} looks {where}!",
    "Never {do} a {noun} {where}!",
    "It took {number} {unit} to {do} the {noun}.",
    "There were {number} {nouns} {where}, and {number} more {where}.",
    "She counted {number}, {number}, and {number}.",
    "The {noun} costs {number} dollars, not {number}.",
    "He bought {food}, {food}, and {food} {when}.",
    "We had {food} with {food}, but nobody wanted the {food}.",
    "If the {noun} is {adj}, {do} it {adv}.",
    "When the {person} {went} {where}, the {noun} was {adj}.",
    "Although it was {adj}, the {noun} {stayed} {adj} all {time}.",
    "The {noun} was neither {adj} nor {adj}, {name} thought.",
    "I would rather {do} a {noun} than {do} a {adj} {noun}.",
    "My {person} said that the {noun} had been {adj} since {day}.",
    "You should {adv} {do} the {noun}, because it is {adj}.",
    "They {adv} {did} every {noun} that the {person} had {where}.",
    "Nothing {stayed} as {adj} as the {noun} {where}.",
    "{name} lives in {place}, near the {noun}.",
    "The train from {place} to {place} leaves at {hour}.",
    "Have you been to {place} in {month}?",
    "Between {place} and {place}, we saw {number} {nouns}.",
    "{day_first} is a {adj} day for {doing} a {noun}.",
    "{doing_first} the {noun} made {name} feel {feeling}.",
    "The {person} felt {feeling} after {doing} the {noun}.",
    "Are you {feeling}, {name}, or just {feeling}?",
    "I am {feeling}, thank you.",
    "Yes, the {noun} is mine.",
    "No, {name}, that {noun} is too {adj}.",
    "Well, the {person} may {do} it {when}.",
    "{name} asked for {food}, but got {food}.",
    "Our {noun} is {adj}, yours is {adj}, and theirs is {adj}.",
    "Those {nouns} {where} belong to the {person}.",
    "All the {nouns} were {adj}, except the ones {where}.",
    "Every {person} in {place} knows how to {do} a {noun}.",
    "It is {hour}, and the {noun} is still {adj}.",
    "Let us {do} the {noun} together, shall we?",
    "On {day} the {person} will {do} {number} {nouns}.",
    "The {person} with the {adj} {noun} {went} {where} {when}.",
    "A {noun}, a {noun}, and a {adj} {noun} lay {where}.",
    "Just {do} it {adv}.",
    "Tell me about the {noun}.",
    "That {noun} again?",
    "So many {nouns}!",
    "Nobody knew whose {noun} it was, so the {person} {did} it.",
    "In {month}, {place} is {adj} and the {nouns} are {adj}.",
    "Once the {nouns} were gone, {name} {went} {where}, feeling {feeling}.",
    "As far as I know, the {person} never {did} a {noun} {where}.",
    "{letter} {letter} {letter}, {letter} {letter} {letter}.",
    "{letter}, {letter}, {letter}, and {letter}.",
    "{name} spells it {letter} {letter} {letter} {letter}.",
    "Row {letter}, seat {number}, said the {person}.",
    "Call {digit} {digit} {digit}, {digit} {digit} {digit} {digit}.",
];

/// Templates for dictionary words of any part of speech.
const WORD_TEMPLATES: &[&str] = &[
    "{word_first}, {word}, {word}, and {word}.",
    "She wrote {word}, {word}, and {word} on the board.",
    "The next words are {word}, {word}, and {word}.",
    "Spell {word}, then {word}, then {word}.",
    "Does {word} sound like {word}?",
    "He whispered {word} and shouted {word}!",
    "Their names were {word} and {word}.",
    "Nobody in {place} says {word} or {word}.",
    "The {adj} {word} and the {adj} {word} went away.",
    "Why is it called {word} {word}?",
];

#[rustfmt::skip]
const LISTS: &[(&str, &str)] = &[
    ("noun", "apple arrow badge basket beach bicycle blanket boat bottle bridge brush bucket button cabin camera candle canyon carpet castle chair cheese \
        church circle clock cloud coat coin corner couch cradle curtain cushion desk diary dish door drawer dream drum eagle engine envelope feather fence \
        field fire flag flower forest fountain fridge garden gate giraffe glove guitar hammer harbor hat hedge hill horse hotel house island jacket jar \
        jewel journey judge jug juice jungle kettle key kitchen kite knife ladder lake lamp leaf lemon letter library lily lock machine magazine map \
        market mask measure mirror moon mountain mouse mouth museum needle nest notebook oar ocean office onion orange orchard oven owl package page paint \
        palace parcel path pencil piano picture pigeon pillow pipe pitcher planet plate pocket poem pond porch puzzle quarter question quilt rabbit \
        radio railway ribbon river road rocket roof rope rug sail sandwich scarf school seat shadow sheep shelf shirt shoe shovel song spoon square \
        squirrel stable stairs star statue stone stool storm story stove street sugar suit sweater table teacup tent theater thread throne thumb thunder \
        ticket tiger toad tooth towel tower toy treasure tree trousers truck trumpet tulip tunnel umbrella vase village vine violin voice voyage wagon wall \
        wallet walrus watch wheel whistle window wing wolf yacht yard zebra zipper zoo"),
    ("nouns", "apples arches beaches berries birds bottles boxes branches buses candles chairs cities clouds coins cows cups dogs doors ducks eggs faces \
        fields fish flowers foxes gloves goats hats hedges houses judges keys lambs leaves letters matches months mice oaks oranges owls pages pages paths \
        pencils pies pigeons plates potatoes prizes puzzles quilts rings roads roses sheep shoes songs spoons stories teeth thoughts toys trees villages \
        watches wheels wishes years youths zebras"),
    ("adj", "ancient angry awful bare beige big bitter black blue brave bright broad broken brown calm careful charming cheap clean clever cloudy cold crisp \
        cruel curious damp dark deep delicious dirty dry dull dusty eager early easy empty enormous fair faint famous fancy fierce fine flat foggy foolish \
        fresh friendly full funny fuzzy gentle giant glad golden good gray green handsome happy harsh heavy high hollow honest huge humble icy jolly joyful \
        juicy keen kind large lazy light little lonely long loud lovely lucky marvelous mild modern muddy narrow neat new noisy odd old orange pale \
        peculiar plain pleasant polite poor precious pretty proud purple quick quiet rare raw red rich rough round royal rude rusty sad safe \
        salty scarce sharp shiny short shy silent silver simple slim slow small smooth soft sour square steep sticky strange strong stupid sturdy sweet \
        tall tender thick thin thirsty tidy tiny tired tough ugly unusual useful vague vast vivid warm weak wet white wide wild wise wonderful wooden yellow young"),
    ("did", "admired borrowed bought brought broke built burned carried caught changed chose cleaned collected covered described designed discovered dragged \
        drew dropped enjoyed examined finished fixed followed forgot found gave guarded heard held hid ignored judged kept kicked knew lifted loved measured \
        mentioned missed moved needed noticed offered opened ordered owned painted passed photographed pulled purchased pushed reached remembered repaired returned \
        sketched sold stole studied threw touched traded treasured used visited wanted washed watched wrapped"),
    ("do", "admire avoid borrow bring break build burn buy carry catch change check choose clean collect cover describe design draw drop enjoy examine find \
        finish fix follow forget give guard hear hide hold ignore judge keep kick lift love measure mention miss move need notice offer open order own paint \
        pass photograph pull push reach remember repair return save sell share show sketch study teach throw touch trade try visit want wash watch wrap"),
    ("doing", "admiring borrowing bringing breaking building buying carrying catching changing choosing cleaning collecting covering describing drawing \
        examining finding fixing following forgetting guarding hearing hiding holding judging lifting losing measuring moving opening painting pulling pushing \
        repairing selling sharing sketching studying teaching throwing touching visiting washing watching wrapping"),
    ("went", "went walked ran hurried drove marched wandered traveled climbed rode sailed stumbled returned moved rushed flew danced swam"),
    ("stayed", "stayed remained looked felt seemed"),
    ("person", "actor artist aunt baker barber brother butcher captain child coach cook cousin doctor driver farmer father gardener girl guard guest guide \
        judge king lawyer librarian mayor mechanic merchant mother musician nephew neighbor niece nurse painter passenger pilot plumber poet prince \
        queen sailor shepherd sheriff sister soldier stranger student tailor teacher thief uncle usher visitor waiter youth"),
    ("where", "at home|at school|at the airport|at the edge of the woods|at the top|behind the barn|behind the church|below the bridge|beside the river|beyond \
        the hills|by the window|down the hall|from the attic|from the bottom|in the basement|in the garage|in the kitchen|in the north|in the rain|in the \
        shade|in the south|inside the cave|near the lighthouse|next to the fire|off the coast|on the beach|on the floor|on the other side|on the roof|on the \
        shelf|outside the house|over the valley|past the mill|through the fog|to the east|toward the mountains|under the bed|under the oak|upon the \
        hill|up the stairs|with both hands|without a sound|within the walls|around the corner|across the bay|above the clouds|along the path|among the ruins"),
    ("when", "yesterday|today|last night|this morning|last week|at noon|at midnight|before breakfast|after lunch|in the evening|on Sunday|on Thursday|all \
        winter|every spring|in autumn|during the summer|for an hour|for years|twice a month|once again|a moment ago|two days later|right away|soon after"),
    ("name", "Abby Adam Alice Amy Andrew Anna Arthur Beth Bob Brian Carol Charles Chloe Claire Dan David Dora Doug Edward Ellen Emma Ethan Eve Faith Floyd Frank \
        George Gina Grace Hannah Harry Heather Helen Henry Hugh Isaac Jack Jane Jean Jim John Joy Joyce Judy Julia Kate Keith Ken Kevin Laura Leo Lily Louise \
        Lucy Luke Margaret Mary Matthew Max May Megan Michael Nancy Nathan Nick Noah Olive Oscar Owen Patrick Paul Peggy Peter Philip Rachel Ralph Robert Roy \
        Ruth Ryan Sally Sam Sarah Sean Sharon Shirley Simon Sophie Susan Ted Thomas Tim Tony Troy Vera Victor Violet Walter Wendy William Yolanda Zach Zoe"),
    ("place", "Africa|Asia|Athens|Austin|Boston|Brazil|Canada|Chicago|China|Dallas|Denver|Egypt|England|Europe|Florida|France|Georgia|Germany|Greece|Hawaii|India|Italy|Japan|\
        Kansas|Kenya|London|Maine|Mexico|Miami|Moscow|New York|Norway|Ohio|Oregon|Paris|Peru|Phoenix|Poland|Quebec|Rome|Russia|Spain|Sweden|Texas|Tokyo|Turkey|Utah|Vermont|Virginia|Zurich"),
    ("number", "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|twenty three|thirty \
        one|thirty six|forty two|forty eight|fifty five|sixty seven|seventy four|eighty nine|ninety nine|one hundred|two hundred|five hundred|six thousand|a million"),
    ("letter", "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z"),
    ("digit", "oh zero one two three four five six seven eight nine"),
    ("unit", "seconds minutes hours days weeks months years"),
    ("hour", "one two three four five six seven eight nine ten eleven noon midnight"),
    ("day", "Monday Tuesday Wednesday Thursday Friday Saturday Sunday tomorrow Christmas"),
    ("month", "January February March April May June July August September October November December"),
    ("time", "day night week month year winter summer morning afternoon"),
    ("food", "bacon beans beef beer bread broth butter cabbage cake carrots cereal cheese cherries chicken chocolate cider coffee cookies corn cream fish fruit garlic \
        ginger grapes ham honey jam juice lamb lettuce milk mushrooms mustard noodles oatmeal olives onions oysters peaches peanuts pears peas pepper pickles pie \
        pizza plums popcorn pork potatoes pudding raisins rice salad salmon sausage shrimp soup spinach steak strawberries sugar tea toast tomatoes turkey vegetables \
        vinegar water yogurt"),
    ("feeling", "afraid alive annoyed ashamed better bored calm cheerful confused delighted excited foolish furious glad grateful guilty hopeful hungry jealous lonely \
        nervous proud puzzled relieved sleepy sorry surprised tired uneasy unsure worried"),
    ("adv", "boldly carefully cheerfully closely gently gladly happily lightly loudly neatly often politely properly quickly quietly rarely really safely seldom \
        simply slowly softly soon surely sweetly usually"),
];

/// An infinite iterator over distinct sentences.
#[derive(Clone)]
pub struct Sentences<'a> {
    random: ChaCha8Rng,
    seen: HashSet<String>,
    lists: Vec<(&'static str, Vec<&'static str>)>,
    words: Vec<&'a str>,
}

impl<'a> Sentences<'a> {
    /// Sentences from a seed and the words of a lexicon.
    pub fn new(lexicon: &'a Lexicon, seed: u64) -> Self {
        let split = |list: &'static str| match list.contains('|') {
            true => list.split('|').collect(),
            false => list.split_whitespace().collect(),
        };
        let words = (0..lexicon.len())
            .filter(|index| (4..=8).contains(&lexicon.phones(*index).len()))
            .map(|index| lexicon.word(index))
            .filter(|word| word.len() >= 4 && !word.contains('\'') && is_everyday(word, lexicon))
            .collect();
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            seen: HashSet::new(),
            lists: LISTS.iter().map(|(name, list)| (*name, split(list))).collect(),
            words,
        }
    }

    /// Returns an iterator for the `index`-th of several speakers that run in parallel, with a random stream of its own and without the sentences so far.
    pub fn branch(&self, index: usize) -> Self {
        let mut branch = self.clone();
        branch.random.set_stream(index as u64 + 1);
        branch
    }

    /// Fills a random template.
    fn fill(&mut self) -> String {
        let of_words = self.random.random_bool(0.25) && !self.words.is_empty();
        let template =
            if of_words { WORD_TEMPLATES } else { TEMPLATES }.choose(&mut self.random).expect("templates");
        let mut sentence = String::new();
        let mut rest = *template;
        while let Some((before, after)) = rest.split_once('{') {
            let (slot, after) = after.split_once('}').expect("a slot ends");
            let (slot, capital) = slot.strip_suffix("_first").map_or((slot, false), |slot| (slot, true));
            let Self { random, lists, words, .. } = self;
            let choice = match slot {
                "word" => *words.choose(random).expect("words"),
                _ => *lists
                    .iter()
                    .find(|(name, _)| *name == slot)
                    .and_then(|(_, list)| list.choose(random))
                    .expect("a list for the slot"),
            };
            sentence.push_str(before);
            if capital {
                sentence.push_str(&capitalised(choice));
            } else {
                sentence.push_str(choice);
            }
            rest = after;
        }
        with_articles(&capitalised(&format!("{sentence}{rest}")))
    }
}

impl Iterator for Sentences<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let sentence = self.fill();
            if self.seen.insert(sentence.clone()) {
                return Some(sentence);
            }
        }
    }
}

/// Whether a word is hardly one of the dictionary's many surnames, because the dictionary also has it with common endings.
fn is_everyday(word: &str, lexicon: &Lexicon) -> bool {
    let stem = word.strip_suffix('e').unwrap_or(word);
    let has = |stem: &str, ending: &str| lexicon.get(&format!("{stem}{ending}")).is_some();
    ["ed", "ing"].iter().any(|ending| has(stem, ending)) && has(word, "s")
        || ["ly", "ness", "ful", "less", "ation"].iter().any(|ending| has(word, ending))
}

/// Returns the words with a capital at the start.
fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Corrects the indefinite articles: "a apple" becomes "an apple".
fn with_articles(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let vowel = |next: Option<&&str>| {
        next.is_some_and(|next| {
            let next = next.to_ascii_lowercase();
            next.starts_with(['a', 'e', 'i', 'o', 'u'])
                && !["use", "uni", "one", "usu", "eur"].iter().any(|start| next.starts_with(start))
                || ["hour", "honest"].iter().any(|start| next.starts_with(start))
        })
    };
    let article = |(index, word): (usize, &&str)| match *word {
        "a" if vowel(words.get(index + 1)) => "an".to_string(),
        "A" if vowel(words.get(index + 1)) => "An".to_string(),
        word => word.to_string(),
    };
    words.iter().enumerate().map(article).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::Phonemizer;

    #[test]
    fn sentences_are_distinct_reproducible_and_complete() {
        let phonemizer = Phonemizer::embedded();
        let take = |seed| Sentences::new(phonemizer.lexicon(), seed).take(2000).collect::<Vec<_>>();
        let sentences = take(1);
        assert_eq!(sentences, take(1));
        assert_ne!(sentences, take(2));
        assert_eq!(sentences.iter().collect::<HashSet<_>>().len(), 2000);
        for sentence in &sentences {
            assert!(
                sentence.ends_with(['.', '?', '!'])
                    && sentence.starts_with(char::is_uppercase)
                    && !sentence.contains(['{', '}', '|']),
                "{sentence}"
            );
        }
    }

    #[test]
    fn slots_of_all_templates_have_a_list() {
        for template in TEMPLATES.iter().chain(WORD_TEMPLATES) {
            for slot in template
                .split('{')
                .skip(1)
                .map(|rest| rest.split('}').next().unwrap().trim_end_matches("_first"))
            {
                assert!(
                    slot == "word" || LISTS.iter().any(|(name, _)| *name == slot),
                    "{slot} in {template}"
                );
            }
        }
    }

    #[test]
    fn all_common_phones_occur() {
        use ownvoice::text::symbols::Symbol;
        let phonemizer = Phonemizer::embedded();
        let mut seen = std::collections::HashSet::new();
        for sentence in Sentences::new(phonemizer.lexicon(), 1).take(3000) {
            seen.extend(phonemizer.symbols(&sentence).unwrap());
        }
        let never: Vec<_> = Symbol::all().filter(|symbol| !seen.contains(symbol)).map(Symbol::name).collect();
        // These are the padding, and the vowels whose rare stress the phonemizer replaces.
        assert_eq!(never, ["<pad>", "AH2", "AO0", "AW0", "AW2", "ER2", "OY0", "OY2", "UH0", "UH2"]);
    }

    #[test]
    fn articles_agree() {
        assert_eq!(
            with_articles("A apple, a hour, a used car and a dog."),
            "An apple, an hour, a used car and a dog."
        );
    }
}
