//! Sentences that voices are measured on: new ones that are not part of any training data, and fifty that are hard for speech synthesis. All were written
//! for this project.

/// Everyday English that is in no corpus, prompt or rehearsal of this project. Clones of people who read another language are measured on it too.
pub const NEW_SENTENCES: [&str; 20] = [
    "The ferry leaves at half past nine from the northern dock.",
    "My grandmother kept her letters in a blue tin box.",
    "Please leave the window open, because the room is warm.",
    "Nobody expected so many people on such a cold evening.",
    "We walked along the river until the path came to an end.",
    "Have you ever tasted bread that was baked over a fire?",
    "The doctor told him to rest for another week or two.",
    "A small brown dog was waiting in front of the shop.",
    "They painted the kitchen yellow and the hall light green.",
    "If it rains tomorrow, we will stay at home and read.",
    "Her brother works at the airport and often comes home late.",
    "There is a good reason why the old bridge was closed.",
    "Could you tell me how to get to the railway station?",
    "The children laughed when the clown dropped his hat.",
    "Some of the apples had already fallen from the tree.",
    "I would rather have a cup of tea than a glass of wine.",
    "The letter arrived on Monday, three days too late.",
    "He opened the door slowly and looked into the dark room.",
    "Most of the shops are closed on Sunday afternoon.",
    "What a beautiful view you have from this balcony!",
];

/// Sentences that are hard for speech synthesis: numbers, repetitions, tongue twisters, questions, lists, very long and very short ones.
pub const HARD_SENTENCES: [&str; 50] = [
    "No.",
    "Oh, oh, oh, no, no, no.",
    "Yes, yes, yes, and once more, yes.",
    "Very, very, very, very good.",
    "Bad day, bad dog, bad deal.",
    "It is what it is, and that is that.",
    "Had he had what she had had, he would have had enough.",
    "That that is, is; that that is not, is not.",
    "One, two, three, four, five, six, seven, eight, nine, ten.",
    "Ten, ten, ten, ten, and ten more make sixty.",
    "Call 555 0199 before 5 p.m.",
    "It cost $1,234.56 in 1999 and $19.99 today.",
    "The answer is 3.14159, more or less.",
    "On May 21st, 2026, at 7:45, 112 people came.",
    "Room 404 is on the 4th floor, next to room 440.",
    "He was 1st, she was 2nd, and I was 33rd.",
    "Six thick thistle sticks stood thick and thin.",
    "Three free throws through the thicket threw Theo.",
    "Which wristwatch would a witch wish for?",
    "Rural rulers rarely rule a brewery.",
    "Seven silver swans swam slowly seaward.",
    "Fresh fish sizzles as Felix fries it in fat.",
    "Unique New Yorkers yearn for yellow yoyos.",
    "A proper copper kettle keeps a cup of coffee hot.",
    "Little Lola led eleven lonely llamas along a long lane.",
    "The sixth sheikh's sixth sheep sleeps.",
    "Judge George urged a large change in the village budget.",
    "Measure the treasure at leisure with usual pleasure.",
    "What?",
    "Why would anyone want to know where you were when we were away?",
    "Is it here, or there, or anywhere at all?",
    "You did what, to whom, with which of them?",
    "Stop! Look! Listen!",
    "Well, perhaps, if, and only if, nobody, not even you, objects.",
    "Apples, oranges, lemons, limes, plums, pears, peaches, grapes, and figs.",
    "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, and Monday again.",
    "The cat that the dog that the man fed chased ran away.",
    "Strengths, twelfths, glimpsed, and sculpts end in crowds of consonants.",
    "Squirrels scratched the screen and splashed through the spring shrubs.",
    "An aria in a huge Iowa arena, you are aware, I owe you a euro.",
    "Extraordinarily uncharacteristic responsibilities overwhelmed the administration.",
    "Otorhinolaryngologists and anaesthesiologists met in Albuquerque.",
    "Zephyr, quartz, jukebox, and vex are worth many points.",
    "She sells sea shells, and he sees her sell them by the sea.",
    "Go on, go on, go on, go on, and do not stop.",
    "I scream, you scream, we all scream for ice cream.",
    "A A A, B B B, C C C.",
    "The old lighthouse keeper, who had not spoken to anyone since the storm that took his boat, opened the door, looked at the three of us, and laughed.",
    "When the rain had stopped and the streets were dry again, the children ran out of the house, across the bridge, past the mill, and down to the river where the boats were.",
    "If you count every leaf on every tree in every wood in the whole wide country, and then begin again, you will still be counting long after the last of them has fallen to the ground.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use ownvoice::text::Phonemizer;
    use std::collections::HashSet;

    #[test]
    fn hard_sentences_are_different_and_supported() {
        let phonemizer = Phonemizer::embedded();
        assert_eq!(HARD_SENTENCES.iter().collect::<HashSet<_>>().len(), 50);
        let lengths: Vec<usize> =
            HARD_SENTENCES.iter().map(|text| phonemizer.symbols(text).unwrap().len()).collect();
        assert!(
            lengths.iter().any(|length| *length < 8) && lengths.iter().any(|length| *length > 120),
            "short and long: {lengths:?}"
        );
    }
}
